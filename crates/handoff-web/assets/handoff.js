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

  const read = async () => {
    const answer = await fetch(location.pathname + location.search, { headers: { Accept: "text/html" } });
    return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  };

  // The list is exchanged as a whole; who stands on a link in it goes on standing there.
  const refreshInbox = async () => {
    const fresh = (await read())?.getElementById("list");
    const list = document.getElementById("list");
    if (!fresh) return;
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

  const refreshRequest = async (standing) => {
    const settled = !standing.endsWith("-pending");
    const banner = document.getElementById(settled ? "live-settled" : "live-changed").content.cloneNode(true);
    if (settled) {
      const outcome = (await read())?.getElementById("outcome");
      banner.querySelector(".outcome").textContent = outcome?.textContent ?? "";
      const form = document.getElementById("answer");
      if (form) for (const control of form.elements) control.disabled = true;
      source.close();
      ended = true;
    }
    live.replaceChildren(banner);
  };

  // A page that nobody looks at holds no connection; it catches up after the cursor when it is looked at again.
  let source = null;
  let ended = false;
  let cursor = null;
  const follow = () => {
    if (ended || document.hidden || source) return;
    const feed = new URL(live.dataset.feed, location.href);
    if (cursor !== null) feed.searchParams.set(live.dataset.kind === "inbox" ? "after" : "seen", cursor);
    source = new EventSource(feed);
    source.addEventListener("change", (event) => {
      cursor = event.lastEventId;
      const refresh = live.dataset.kind === "inbox" ? refreshInbox : refreshRequest;
      refresh(event.data).catch(() => {});
    });
    source.addEventListener("error", () => {
      // The browser comes back by itself unless it was told to stay away; then it is tried again later.
      if (source && source.readyState === EventSource.CLOSED) {
        source = null;
        setTimeout(follow, 30000);
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
