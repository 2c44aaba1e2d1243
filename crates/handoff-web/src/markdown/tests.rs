use std::cell::RefCell;

use html5ever::tokenizer::{
    BufferQueue, Tag as Element, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use proptest::prelude::*;

use super::*;
use crate::words::LANGUAGES;

fn rendered(text: &str) -> String {
    html(text, LANGUAGES[0])
}

/// What a browser's reader makes of HTML: its tags, and its text.
#[derive(Default)]
struct Read {
    tags: RefCell<Vec<Element>>,
    text: RefCell<String>,
    others: RefCell<Vec<String>>,
}

impl TokenSink for Read {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        match token {
            Token::TagToken(tag) => self.tags.borrow_mut().push(tag),
            Token::CharacterTokens(text) => self.text.borrow_mut().push_str(&text),
            Token::NullCharacterToken => self.text.borrow_mut().push('\0'),
            Token::EOFToken => {}
            other => self.others.borrow_mut().push(format!("{other:?}")),
        }
        TokenSinkResult::Continue
    }
}

fn read(html: &str) -> Read {
    let queue = BufferQueue::default();
    queue.push_back(html.into());
    let tokenizer = Tokenizer::new(Read::default(), TokenizerOpts::default());
    let _ = tokenizer.feed(&queue);
    tokenizer.end();
    tokenizer.sink
}

/// Each tag that may come out, with its attributes.
const ALLOWED: &[(&str, &[&str])] = &[
    ("p", &["class", "dir"]),
    ("br", &[]),
    ("hr", &[]),
    ("em", &[]),
    ("strong", &[]),
    ("del", &[]),
    ("code", &[]),
    ("pre", &["dir", "tabindex"]),
    ("blockquote", &["dir"]),
    ("ul", &[]),
    ("ol", &["start"]),
    ("li", &["dir"]),
    ("h2", &["dir"]),
    ("h3", &["dir"]),
    ("h4", &["dir"]),
    ("h5", &["dir"]),
    ("h6", &["dir"]),
    ("div", &["class", "tabindex"]),
    ("table", &[]),
    ("thead", &[]),
    ("tr", &[]),
    ("th", &["scope", "dir"]),
    ("td", &["dir"]),
    ("a", &["rel", "target", "href"]),
    ("span", &["class"]),
    ("bdi", &[]),
];

/// Holds what comes out to the allow-list, and to being well formed.
fn check(source: &str) -> Read {
    let html = rendered(source);
    let read = read(&html);
    assert_eq!(*read.others.borrow(), Vec::<String>::new(), "{source:?} {html}");
    let mut open: Vec<String> = Vec::new();
    for tag in read.tags.borrow().iter() {
        let name = tag.name.to_string();
        let (_, attributes) = ALLOWED.iter().find(|(allowed, _)| *allowed == name).unwrap_or_else(|| {
            panic!("<{name}> out of {source:?}: {html}");
        });
        for attribute in &tag.attrs {
            let attribute_name = attribute.name.local.to_string();
            assert!(attributes.contains(&attribute_name.as_str()), "{attribute_name} in <{name}> out of {source:?}");
            if attribute_name == "href" {
                let address = attribute.value.to_string();
                let scheme = address.split(':').next().unwrap().to_owned();
                assert!(["http", "https", "mailto"].contains(&scheme.as_str()), "{address} out of {source:?}");
            }
        }
        match (tag.kind, name.as_str()) {
            (_, "br" | "hr") => {}
            (TagKind::StartTag, _) => open.push(name),
            (TagKind::EndTag, _) => assert_eq!(open.pop(), Some(name), "{source:?} {html}"),
        }
    }
    assert_eq!(open, Vec::<String>::new(), "{source:?} {html}");
    assert!(!read.text.borrow().contains(['\u{1b}', '\u{0}', '\u{202e}', '\u{2066}']), "{source:?}");
    assert!(html.len() <= source.len() * GROWTH + ROOM + 4096, "{} of {}", html.len(), source.len());
    read
}

#[test]
fn what_people_write_comes_out_as_they_meant_it() {
    assert_eq!(
        rendered("# Title\n\nTwo\nlines, *soft* **strong** ~~gone~~ `code`.\n\n- a\n- b\n\n3. c\n"),
        "<h2 dir=\"auto\">Title</h2>\n<p dir=\"auto\">Two<br>\nlines, <em>soft</em> <strong>strong</strong> <del>gone</del> \
         <code>code</code>.</p>\n<ul>\n<li dir=\"auto\">a</li>\n<li dir=\"auto\">b</li>\n</ul>\n<ol start=\"3\">\n\
         <li dir=\"auto\">c</li>\n</ol>\n"
    );
    let table = rendered("|a|b|\n|-|-:|\n|1|<b>|\n");
    assert!(table.contains("<th scope=\"col\" dir=\"auto\">a</th>") && table.contains("&lt;b&gt;</td>"), "{table}");
    assert!(
        rendered("```sh\nrm -rf <x>\n```")
            .contains("<pre dir=\"ltr\" tabindex=\"0\"><code>rm -rf &lt;x&gt;\n</code></pre>")
    );
}

#[test]
fn headings_begin_below_the_page_and_leave_out_no_level() {
    let levels = |text: &str| {
        let tags = read(&rendered(text)).tags.take();
        let starts = tags.iter().filter(|tag| tag.kind == TagKind::StartTag).map(|tag| tag.name.to_string());
        starts.filter(|name| name.starts_with('h')).collect::<Vec<_>>()
    };
    assert_eq!(levels("# a\n\n## b\n\n### c\n\n# d"), ["h2", "h3", "h4", "h2"]);
    assert_eq!(levels("#### a\n\n###### b\n\n# c"), ["h2", "h3", "h2"]);
}

#[test]
fn raw_html_is_text() {
    let source = "<script>alert(1)</script>\n\nA <img src=x onerror=alert(1)> b\n\n<!-- c --><style>x</style>";
    let read = check(source);
    let text = read.text.borrow();
    for piece in ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<!-- c -->", "<style>x</style>"] {
        assert!(text.contains(piece), "{piece} in {text}");
    }
}

#[test]
fn links_say_where_they_lead_and_others_are_no_links() {
    let html = rendered("[Your bank](https://bank.example@evil.example/x)");
    assert!(
        html.contains(
            "href=\"https://bank.example@evil.example/x\">Your bank</a> <span class=\"place\">(<bdi>evil.example</bdi>)"
        ),
        "{html}"
    );
    assert!(!rendered("<https://example.com/>").contains("class=\"place\""), "the address is its own text");
    assert!(rendered("<ada@example.com>").contains("href=\"mailto:ada@example.com\""));
    for source in ["[x](javascript:alert(1))", "[x](data:text/html,y)", "[x](//evil.example)", "[x](/leave)"] {
        let html = rendered(source);
        assert!(!html.contains("<a ") && html.contains("<code>"), "{html}");
    }
    let image = rendered("![chart](https://example.com/c.png)");
    assert!(image.contains("<a ") && image.contains("[image] chart") && !image.contains("<img"), "{image}");
    assert!(rendered("[](https://example.com)").contains(">example.com</a>"));
}

#[test]
fn what_nests_deeper_than_anybody_writes_is_shown_as_it_was_written() {
    for piece in [">", ">- ", "> ", "1. ", "1) ", "- ", "*", "+ "] {
        let source = piece.repeat(20_000 / piece.len());
        let html = rendered(&source);
        assert!(html.len() < 6 * source.len() + 100, "{piece:?} became {}", html.len());
        assert!(
            html.starts_with("<p class=\"prose\"") || html == "<hr>\n",
            "{piece:?}: {}",
            html.get(..80).unwrap_or(&html)
        );
    }
    for piece in ["**a ", "*a _b ", "[", "_", "`", "![", "`` `", "[a](", "![a](https://x.example) "] {
        let source = piece.repeat(20_000 / piece.len());
        check(&source);
    }
    check(&format!("{}x{}", "*a **b ".repeat(1_400), " c** d*".repeat(1_400)));
    let nested = |count: usize| format!("{}x{}", "![".repeat(count), "](https://x.example)".repeat(count));
    let html = rendered(&nested(10));
    assert_eq!(html.matches("<a ").count(), 1, "links do not lie in each other: {html}");
    assert!(rendered(&nested(900)).len() < 200_000);
}

#[test]
fn a_picture_within_a_link_is_no_second_link() {
    let html = rendered("[![badge](https://img.example/b.png)](https://example.com/)");
    assert_eq!((html.matches("<a ").count(), html.matches("</a>").count()), (1, 1), "{html}");
    assert!(html.contains("https://img.example/b.png") && html.contains("(<bdi>example.com</bdi>)"), "{html}");
}

#[test]
fn what_nests_without_end_stays_shallow() {
    for source in
        ["> ".repeat(5_000), "- ".repeat(5_000), "1. > ".repeat(3_000), "*".repeat(10_000), "[".repeat(10_000)]
    {
        check(&format!("{source}x"));
    }
}

#[test]
fn a_table_of_empty_cells_does_not_grow_without_bounds() {
    let columns = 2_000;
    let source = format!("{}|\n{}|\n{}", "|a".repeat(columns), "|-".repeat(columns), "|\n".repeat(5_000));
    check(&source);
}

proptest! {
    #[test]
    fn only_what_is_allowed_comes_out_whatever_goes_in(source in hostile()) {
        check(&source);
    }
}

/// Text out of pieces that mean something to Markdown or to HTML.
fn hostile() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "<script>",
        "</script>",
        "<img src=x onerror=y>",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "<?x",
        "&lt;",
        "&#60;",
        "\"",
        "'",
        "`",
        "```",
        "~~~",
        "*",
        "_",
        "**",
        "~~",
        "[",
        "]",
        "(",
        ")",
        "](",
        "![",
        "<https://x.example>",
        "javascript:x",
        "https://x.example/\"onclick=\"y",
        "mailto:a@b.example",
        "\n",
        "\n\n",
        "    ",
        "\t",
        "# ",
        "###### ",
        "> ",
        "- ",
        "1. ",
        "|",
        "|-|-|\n",
        "|a|b|\n",
        "---\n",
        "===\n",
        "\\",
        "\u{202e}",
        "\u{1b}[31m",
        "\0",
        "text",
        "א",
        "[a]: https://x.example\n",
        "[a]",
        "[^1]",
        "- [ ] ",
        "<b onclick=z>",
        "</p>",
        "<a href=\"javascript:x\">",
    ]);
    prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
}
