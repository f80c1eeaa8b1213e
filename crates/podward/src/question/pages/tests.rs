use super::{Pages, Size, Turn};

const SIZE: Size = Size {
    columns: 10,
    rows: 6,
};

fn rows(rows: &[&str]) -> Vec<String> {
    rows.iter().map(|row| (*row).to_owned()).collect()
}

#[test]
fn a_page_never_takes_more_rows_than_the_screen_has_for_it() {
    let long = "x".repeat(25);
    let mut pages = Pages::new(rows(&["a", "b", "c", &long, "d", "e"]));
    assert_eq!(pages.turn(Turn::Screen, SIZE, 2), "a\nb\nc\n");
    assert_eq!((pages.n_left(), pages.page_height(SIZE)), (3, 3));
    assert_eq!(pages.turn(Turn::Screen, SIZE, 2), format!("{long}\nd\n"));
    assert_eq!((pages.n_left(), pages.page_height(SIZE)), (1, 4));
    assert_eq!(pages.page(), format!("{long}\nd\n"));
    assert_eq!(pages.turn(Turn::Screen, SIZE, 2), "e\n");
    assert_eq!(pages.n_left(), 0);
}

#[test]
fn nothing_is_left_out_however_small_the_screen_is() {
    let long = "界".repeat(40);
    for (columns, n_rows) in [(0, 0), (1, 1), (3, 2), (10, 6), (80, 24), (500, 500)] {
        let size = Size {
            columns,
            rows: n_rows,
        };
        let all = rows(&["", "a", &long, "b", "\u{1b}[1mc\u{1b}[0m"]);
        let mut pages = Pages::new(all.clone());
        let mut shown = String::new();
        while pages.n_left() > 0 {
            shown.push_str(&pages.turn(Turn::Screen, size, 1));
        }
        assert_eq!(shown.lines().collect::<Vec<_>>(), all, "{columns}x{n_rows}");
    }
}

#[test]
fn the_rest_comes_at_once_where_it_is_asked_for() {
    let mut pages = Pages::new(rows(&["a"; 20]));
    pages.turn(Turn::Screen, SIZE, 2);
    assert_eq!(pages.turn(Turn::End, SIZE, 2).lines().count(), 16);
    assert_eq!(pages.n_left(), 0);
}

#[test]
fn colour_takes_no_room_and_a_wide_character_takes_two_columns() {
    for (text, height) in [
        ("", 1),
        ("0123456789", 1),
        ("0123456789a", 2),
        ("\u{1b}[31m0123456789\u{1b}[0m", 1),
        ("界界界界界界", 2),
        ("a\nb", 2),
    ] {
        assert_eq!(SIZE.height_of(text), height, "{text:?}");
    }
}
