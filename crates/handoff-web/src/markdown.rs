//! Markdown as safe HTML: read by a library, written by an allow-list.
//!
//! The library's own writer is not used. Each event of its reader becomes one of the tags below or text, so what is not
//! named here cannot come out: raw HTML is text, an image is a link to it, an address is a link only where
//! [`Address`] takes it. A line break in the source stays one, since many programs write plain text. Headings begin
//! below the page's own and leave out no level.

use pulldown_cmark::{Alignment, CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};

use crate::{address::Address, visible, words::Words};

/// How deep quotes and lists may lie in each other; deeper ones stand at this level.
const DEPTH: usize = 12;

/// How much may be open at once. Nobody writes that deep, so a body that does is shown as it was written, at once.
const OPEN: usize = 100;

/// How many times its source a body may become; tables can make much out of little.
const GROWTH: usize = 12;

/// What every body may become, however short its source.
const ROOM: usize = 16 * 1024;

/// Turns Markdown into HTML. A body that would grow out of proportion becomes plain paragraphs.
pub(crate) fn html(text: &str, words: &Words) -> String {
    let text = visible::line_ends(text);
    // Before anything is read: what a reader does with one line grows with the marks at its head.
    if text.split('\n').any(|line| marks(line) > OPEN) {
        return plain(&text);
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let limit = text.len().saturating_mul(GROWTH).saturating_add(ROOM);
    let mut writer = Writer {
        out: String::new(),
        words,
        stack: Vec::new(),
        nests: 0,
        links: 0,
        heading: 1,
        in_head: false,
        cell: 0,
    };
    for event in Parser::new_ext(&text, options) {
        writer.event(event);
        if writer.out.len() > limit || writer.stack.len() > OPEN {
            return plain(&text);
        }
    }
    writer.out
}

/// How many quotes and items a line begins.
fn marks(line: &str) -> usize {
    let head =
        line.split(|character: char| !matches!(character, '>' | '-' | '+' | '*' | '.' | ')' | ' ' | '\t' | '0'..='9'));
    head.take(1).flat_map(str::chars).filter(|mark| matches!(mark, '>' | '-' | '+' | '*' | '.' | ')')).count()
}

/// Text as paragraphs, parted by blank lines.
fn plain(text: &str) -> String {
    let parts = text.split("\n\n").map(|part| part.trim_matches('\n')).filter(|part| !part.trim().is_empty());
    let mut out = String::new();
    for part in parts {
        out.push_str("<p class=\"prose\" dir=\"auto\">");
        escape(part, &mut out);
        out.push_str("</p>\n");
    }
    out
}

/// Writes the events of a reader as tags and text.
struct Writer<'a> {
    out: String,
    words: &'a Words,
    /// What is open: the tag to close, and what to say after it.
    stack: Vec<Open>,
    /// How many lists and quotes are open.
    nests: usize,
    /// How many links are: a picture within a link is no second one.
    links: usize,
    /// The level of the last heading; the page's own title is the first.
    heading: u8,
    in_head: bool,
    cell: usize,
}

struct Open {
    close: &'static str,
    after: Option<Whither>,
}

/// Where a link leads, for saying it once the link ends.
struct Whither {
    place: String,
    /// Where the link's own text begins in what is written.
    from: usize,
    href: String,
}

impl Writer<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(end) => self.end(end),
            // Raw HTML is text here, and so are formulas, which are not asked for.
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text),
            Event::Code(text) => {
                self.out.push_str("<code>");
                self.text(&text);
                self.out.push_str("</code>");
            }
            Event::SoftBreak | Event::HardBreak => self.out.push_str("<br>\n"),
            Event::Rule => self.out.push_str("<hr>\n"),
            Event::FootnoteReference(text) => self.text(&text),
            Event::TaskListMarker(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.open("<p dir=\"auto\">", "</p>\n"),
            Tag::Heading { level, .. } => self.heading(level),
            Tag::BlockQuote(_) => {
                self.nest("<blockquote dir=\"auto\">\n", "</blockquote>\n");
            }
            Tag::CodeBlock(kind) => {
                let _: CodeBlockKind<'_> = kind;
                self.open("<pre dir=\"ltr\" tabindex=\"0\"><code>", "</code></pre>\n");
            }
            Tag::List(None) => {
                self.nest("<ul>\n", "</ul>\n");
            }
            Tag::List(Some(first)) => {
                if self.nest("<ol", "</ol>\n") {
                    if first != 1 {
                        self.out.push_str(&format!(" start=\"{first}\""));
                    }
                    self.out.push_str(">\n");
                }
            }
            // An item without its list would be no HTML: it is a block at the deepest level then.
            Tag::Item if self.is_in_list() => self.open("<li dir=\"auto\">", "</li>\n"),
            Tag::Item => self.open("<p dir=\"auto\">", "</p>\n"),
            Tag::Table(alignments) => {
                let _: Vec<Alignment> = alignments;
                self.open("<div class=\"scroll\" tabindex=\"0\"><table>\n", "</table></div>\n");
            }
            Tag::TableHead => {
                self.in_head = true;
                self.open("<thead><tr>", "</tr></thead>\n");
            }
            Tag::TableRow => self.open("<tr>", "</tr>\n"),
            Tag::TableCell => {
                self.cell = self.cell.saturating_add(1);
                if self.in_head {
                    self.open("<th scope=\"col\" dir=\"auto\">", "</th>");
                } else {
                    self.open("<td dir=\"auto\">", "</td>");
                }
            }
            Tag::Emphasis => self.open("<em>", "</em>"),
            Tag::Strong => self.open("<strong>", "</strong>"),
            Tag::Strikethrough => self.open("<del>", "</del>"),
            Tag::Link { link_type, dest_url, .. } => self.link(&dest_url, link_type == LinkType::Email),
            Tag::Image { dest_url, .. } => {
                self.link(&dest_url, false);
                self.out.push_str(&format!("[{}] ", self.words.image));
            }
            Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::MetadataBlock(_)
            | Tag::Superscript
            | Tag::Subscript => self.open("", ""),
        }
    }

    fn end(&mut self, end: TagEnd) {
        let Some(open) = self.stack.pop() else { return };
        if is_nest(open.close) {
            self.nests = self.nests.saturating_sub(1);
        }
        if matches!(end, TagEnd::TableHead) {
            self.in_head = false;
        }
        if matches!(end, TagEnd::Link | TagEnd::Image)
            && let Some(whither) = open.after
        {
            // A link without words would be one that nobody can see.
            let (place, href) = (escaped(&whither.place), escaped(&whither.href));
            let text = self.out.get(whither.from..).unwrap_or_default().trim();
            let is_empty = text.is_empty();
            // Who reads the address itself needs no second telling.
            let is_told = is_empty || text == place || text == href;
            if is_empty {
                self.out.push_str(&place);
            }
            self.out.push_str(open.close);
            self.links = self.links.saturating_sub(1);
            if !is_told {
                self.out.push_str(" <span class=\"place\">(<bdi>");
                self.out.push_str(&place);
                self.out.push_str("</bdi>)</span>");
            }
            return;
        }
        self.out.push_str(open.close);
    }

    /// A link where the address may be one, and otherwise its words with the address behind them, as text.
    fn link(&mut self, destination: &CowStr<'_>, is_mail: bool) {
        let destination = if is_mail { format!("mailto:{destination}") } else { destination.to_string() };
        if let Some(address) = Address::web_or_mail(&destination).filter(|_| self.links == 0) {
            self.out.push_str("<a rel=\"noopener noreferrer nofollow\" target=\"_blank\" href=\"");
            escape(&address.href, &mut self.out);
            self.out.push_str("\">");
            let from = self.out.len();
            self.links = self.links.saturating_add(1);
            let after = Some(Whither { place: address.place, from, href: destination });
            self.stack.push(Open { close: "</a>", after });
        } else {
            self.out.push_str("<span class=\"no-link\"><code>");
            self.text(&destination);
            self.out.push_str("</code> ");
            self.stack.push(Open { close: "</span>", after: None });
        }
    }

    fn heading(&mut self, level: HeadingLevel) {
        let wanted = (level as u8).saturating_add(1);
        let level = wanted.min(self.heading.saturating_add(1)).min(6);
        self.heading = level;
        match level {
            0..=2 => self.open("<h2 dir=\"auto\">", "</h2>\n"),
            3 => self.open("<h3 dir=\"auto\">", "</h3>\n"),
            4 => self.open("<h4 dir=\"auto\">", "</h4>\n"),
            5 => self.open("<h5 dir=\"auto\">", "</h5>\n"),
            _ => self.open("<h6 dir=\"auto\">", "</h6>\n"),
        }
    }

    fn open(&mut self, open: &str, close: &'static str) {
        self.out.push_str(open);
        self.stack.push(Open { close, after: None });
    }

    /// Opens what can lie in itself, unless it lies too deep already; tells whether it did.
    fn nest(&mut self, open: &str, close: &'static str) -> bool {
        let fits = self.nests < DEPTH;
        if fits {
            self.nests = self.nests.saturating_add(1);
        }
        self.open(if fits { open } else { "" }, if fits { close } else { "" });
        fits
    }

    fn is_in_list(&self) -> bool {
        self.stack.last().is_some_and(|open| matches!(open.close, "</ul>\n" | "</ol>\n"))
    }

    fn text(&mut self, text: &str) {
        escape(&visible::lines(text), &mut self.out);
    }
}

fn is_nest(close: &str) -> bool {
    matches!(close, "</ul>\n" | "</ol>\n" | "</blockquote>\n")
}

/// Text as HTML spells it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape(text, &mut out);
    out
}

/// Writes text so that HTML reads it as text, between tags and in quoted attributes.
fn escape(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            plain => out.push(plain),
        }
    }
}

#[cfg(test)]
mod tests;
