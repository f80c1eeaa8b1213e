use super::*;

fn read(html: &str) -> Page {
    let base = Url::parse("https://docs.example/guide/").unwrap();
    Page::read(html, &base).unwrap()
}

#[test]
fn a_page_becomes_text() {
    let page = read(
        "<!doctype html><html><head><title> The  <b>guide</title><style>p { color: red }</style>\
         <script>if (a < b) { alert('<p>no</p>') }</script></head><body>\
         <h1>Guide</h1><p>Read <a href='next.html'>the next page</a> &amp; <em>more</em>.\
         <p>Second<br>line<ul><li>one<li>two<ol><li>inner</ol></ul>\
         <table><tr><th>Name<th>Age<tr><td>Ada<td>36</table>\
         <pre>a\n  b &lt; c</pre><img src=x alt='A tree'><a href='javascript:x()'>run</a>",
    );
    assert_eq!(page.title.as_deref(), Some("The <b>guide"));
    assert_eq!(
        page.text,
        "# Guide\n\nRead [the next page][1] & *more*.\n\nSecond\nline\n* one\n* two\n  1. inner\n\n\
         Name | Age\nAda | 36\n\na\n  b < c\n\n[A tree]run\n\n\
         [1]: https://docs.example/guide/next.html\n"
    );
}

/// A page of so many bytes that repeats a piece; `#` in it is the number of the repetition.
fn repeated(piece: &str, n_bytes: usize) -> String {
    let mut page = String::new();
    for number in 0..n_bytes / piece.len() {
        page.push_str(&piece.replace('#', &number.to_string()));
    }
    page
}

#[test]
fn a_hostile_page_is_read_in_time_and_memory_like_its_length() {
    let pieces = [
        "<div>",
        "<p>",
        "<b>",
        "<b class=#>x<p>",
        "<p><i id=#></p>",
        "<a href=#>x",
        "<a href=/#>",
        "<table><tr><td>",
        "<table><td>x</table>",
        "<tr><td>x",
        "<ul><li>x",
        "<ol><li>",
        "<blockquote>x ",
        "<dl><dd>x",
        "<h1>x",
        "<pre>x\n",
        "<pre><ul>",
        "<font><div>",
        "<svg><p>x",
        "<math><mi>",
        "<select><option>x",
        "<template>x",
        "<form><button>x",
        "</p>",
        "</div>",
        "<br>",
        "<hr>",
        "<img alt=x>",
        "<li>x",
        "<script>",
        "<title>x",
        "<textarea>x",
        "<plaintext>x",
        "<!--",
        "<![CDATA[x",
        "&amp;",
        "&#x202e;",
        "<code><em><strong>x",
        "<ul></div>",
        "<p><table>x",
        "<table>x<b>",
        "<x-#>y",
        "<p a# b=c",
        "word",
        "word ",
        "\u{301}",
        "漢",
        "<",
        "\0",
    ];
    let long = ["<div>", "<b>", "<p a# b=c"].map(|piece| (piece, 1_000_000));
    let short = pieces.map(|piece| (piece, 60_000));
    for (piece, n_bytes) in long.into_iter().chain(short) {
        let page = repeated(piece, n_bytes);
        let base = Url::parse("https://a.example/").unwrap();
        let written = rewritten(&page, &base);
        assert!(written.open.is_empty(), "{piece}");
        assert_eq!(written.n_indents, 0, "{piece}");
        // A link becomes absolute, a character an entity.
        let n_bytes = written.out.len();
        assert!(n_bytes <= 12 * page.len(), "{piece}: {n_bytes}");
        let n_bytes = read(&page).text.len();
        assert!(n_bytes <= 12 * page.len(), "{piece}: {n_bytes}");
    }
}

#[test]
fn elements_are_never_deeper_than_the_limit() {
    let base = Url::parse("https://a.example/").unwrap();
    for piece in [
        "<div>",
        "<b>",
        "<ul><li>",
        "<blockquote><table><tr><td>",
        "<a><p>",
    ] {
        let written = rewritten(&piece.repeat(1000), &base).out;
        let (mut depth, mut deepest) = (0_usize, 0);
        for tag in written.split('<').skip(1) {
            match tag.strip_prefix('/') {
                Some(_) => depth -= 1,
                None => depth += 1,
            }
            deepest = deepest.max(depth);
        }
        assert_eq!(depth, 0, "{written}");
        assert!(deepest <= DEPTH_MAX, "{piece}: {deepest}");
    }
}

#[test]
fn what_a_page_hides_in_markup_is_not_shown_as_text() {
    let page = read(
        "a<script>b</script><style>c</style><!-- d --><iframe>e</iframe><noscript><p>f</noscript>\
         <title>g</title><a href='data:text/html,h'>i</a><a href='#j'>k</a>",
    );
    assert_eq!(page.text, "aik\n");
}
