// What the pages do beyond what they do without it: times in the reader's zone, a count of characters, and word of what
// changed meanwhile. It sends nothing but requests for pages, and moves nobody's focus.
"use strict";
(() => {
  const page = document.documentElement;
  const live = document.getElementById("live");

  // Times: the server writes them in the zone that it is told. The first page comes before that, so it is rewritten here.
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const localize = (root) => {
    if (page.dataset.zone || !zone) return;
    const format = new Intl.DateTimeFormat(page.lang, {
      year: "numeric", month: "long", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23",
      timeZoneName: "shortOffset",
    });
    for (const time of root.querySelectorAll("time")) time.textContent = format.format(new Date(time.dateTime));
  };
  if (zone) {
    // Where the reader chose a zone, the server's own cookie stands and this one is dropped.
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `handoff_zone=${encodeURIComponent(zone)}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
  }
  localize(document);

  // Characters, counted as the server counts them.
  for (const input of document.querySelectorAll("[data-max]")) {
    const counter = document.createElement("p");
    counter.className = "dim counter";
    counter.setAttribute("aria-hidden", "true");
    const count = () => {
      const used = [...input.value].length;
      const parts = input.dataset.counter.split("{}");
      counter.textContent = parts[0] + used + parts[1] + input.dataset.max + parts[2];
      counter.hidden = used === 0;
      counter.classList.toggle("over", used > Number(input.dataset.max));
    };
    input.addEventListener("input", count);
    input.after(counter);
    count();
  }

  if (!live || !window.EventSource) return;

  const say = (template) => live.replaceChildren(document.getElementById(template).content.cloneNode(true));

  const signedOut = () => {
    gone = ended = true;
    rest();
    live.className = "live";
    say("live-signed-out");
  };

  const read = async () => {
    const answer = await fetch(location.pathname + location.search, { headers: { Accept: "text/html" } });
    if (answer.status === 401) signedOut();
    if (!answer.ok) throw new Error(String(answer.status));
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  };

  // The list is exchanged as a whole; who stands on a link in it goes on standing there.
  const refreshInbox = async () => {
    const fresh = (await read()).getElementById("list");
    const list = document.getElementById("list");
    const text = (element) => [...element.querySelectorAll("h2 a")].map((link) => link.href + link.textContent).join();
    const differs = text(fresh) !== text(list);
    const here = list.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    list.replaceChildren(...fresh.childNodes);
    localize(list);
    if (here) {
      const same = [...list.querySelectorAll("a")].find((link) => link.getAttribute("href") === here);
      same?.focus({ preventScroll: true });
    }
    if (differs) live.textContent = live.dataset.said;
  };

  // What cannot be sent any more is out of reach at once; what it came to is told when it has arrived. What was typed into
  // a question that changed stays, to be taken over.
  const refreshRequest = async (standing) => {
    const settled = !standing.endsWith("-pending");
    const elements = [...document.querySelectorAll(".answer, .besides form")].flatMap((form) => [...form.elements]);
    const barred = elements.filter((one) => settled || one.localName === "button");
    for (const control of barred) control.disabled = true;
    say(settled ? "live-settled" : "live-changed");
    if (!settled) return;
    ended = true;
    rest();
    const outcome = (await read()).getElementById("outcome");
    live.querySelector(".outcome").textContent = outcome?.textContent ?? "";
  };

  // A page that nobody looks at holds no connection; it catches up after the cursor when it is looked at again.
  let source = null;
  let ended = false;
  let gone = false;
  let cursor = null;

  // The cursor moves on only once the page shows what it stands for; until then that is tried again, ever less often.
  let due = null;
  let retry = null;
  let wait = 1000;
  const catchUp = async () => {
    clearTimeout(retry);
    const wanted = due;
    try {
      await (live.dataset.kind === "inbox" ? refreshInbox : refreshRequest)(wanted);
      cursor = wanted;
      wait = 1000;
    } catch {
      if (gone || due !== wanted) return;
      retry = setTimeout(catchUp, wait);
      wait = Math.min(2 * wait, 60000);
    }
  };
  const follow = () => {
    if (ended || document.hidden || source) return;
    const feed = new URL(live.dataset.feed, location.href);
    if (cursor !== null) feed.searchParams.set(live.dataset.kind === "inbox" ? "after" : "seen", cursor);
    source = new EventSource(feed);
    source.addEventListener("change", (event) => {
      due = event.lastEventId;
      catchUp();
    });
    source.addEventListener("error", () => {
      // The browser comes back by itself unless it was told to stay away; then it is tried again later.
      if (source && source.readyState === EventSource.CLOSED) {
        source = null;
        setTimeout(follow, 30000);
        // An event source does not say why it was turned away; the page does.
        read().catch(() => {});
      }
    });
  };
  const rest = () => {
    source?.close();
    source = null;
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? rest() : follow()));
  addEventListener("pagehide", rest);
  addEventListener("pageshow", follow);
  follow();
})();
