//! What is read from course files and lesson pages, and what is refused.

use super::*;
use quickcheck::QuickCheck;

const COURSE: &str = "\
---
title: 'Course 9'
source: 'https://example.org/courses/c'
lessons: 2
---

# Course 1

Abstract 2.

## Topic 3

### First *Lesson*

Source: https://example.org/courses/c/first-lesson

Abstract with 4.

#### What It Is: A, B

Prose **5**% of `6-leader`, 3,**200**&#53; and
K01 [seven](http://x/8) <!-- 9 --> <http://y/10>.

- Item one with 11

  8 and twelve
  - Inner 13
- Item 14

  | Name | 15 |
  |---|---|
  | In | 16 |
- 17
  ```sh
  18
  ```
  19

```js
const N = 15;
```

```
out 16  x1.7
```

```
out 18%
```

    indented 19

#### What It Is: A, B

| Name 20 | 21 |
|---|---|
| Row *one* | 22 \\| **2**3 |

## Topic 24

Prose 25.

### Second

Source: https://example.org/courses/c/second
Tight abstract 26.
";

const PAGE: &str = "---\nsource: 'https://example.org/courses/c/page'\n---\n\n# Page\n\nA 1.\n\n## Part\n\nB 2.\n";

fn shown(numerals: &[Numeral]) -> String {
    let texts: Vec<String> = numerals.iter().map(Numeral::text).collect();
    texts.join(" ")
}

/// Everything that was read, one line per lesson, block, section and row.
fn outline(text: &str) -> Vec<String> {
    let document = parse(text).unwrap();
    let mut lines = Vec::new();
    for lesson in &document.lessons {
        lines.push(format!("{} = {}", lesson.slug, lesson.title));
        for block in &lesson.blocks {
            lines.push(format!("block {} {}", block.follows_program, shown(&block.numerals)));
        }
        for section in &lesson.sections {
            let paragraphs: Vec<String> = section.paragraphs.iter().map(|p| shown(&p.numerals)).collect();
            lines.push(format!("#{}: {}", section.id, paragraphs.join(" / ")));
        }
    }
    for row in &document.rows {
        lines.push(format!("row {:?} {}: {}", row.lesson, row.title, shown(&row.numerals)));
    }
    lines
}

fn all_numerals(document: &Document) -> Vec<&Numeral> {
    let in_lessons = document.lessons.iter().flat_map(|lesson| {
        let blocks = lesson.blocks.iter().flat_map(|block| &block.numerals);
        let paragraphs = lesson.sections.iter().flat_map(|section| &section.paragraphs);
        blocks.chain(paragraphs.flat_map(|paragraph| &paragraph.numerals))
    });
    in_lessons.chain(document.rows.iter().flat_map(|row| &row.numerals)).collect()
}

#[test]
fn a_course_file_is_read_by_lesson_section_and_paragraph() {
    assert_eq!(
        outline(COURSE),
        [
            "first-lesson = First Lesson",
            "block true 16 x1.7",
            "block false 18%",
            "#introduction: 4",
            "#what-it-is-a-b: 5% 6 3,2005 seven / one 11 8 twelve / 13 / 14 / 17 19",
            "#what-it-is-a-b-1: ",
            "second = Second",
            "#introduction: 26",
            "row Some(0) In: 16",
            "row Some(0) Row one: 22 23",
        ]
    );
}

#[test]
fn a_lesson_page_is_read_by_its_title() {
    assert_eq!(outline(PAGE), ["page = Page", "#introduction: 1", "#part: 2"]);
}

#[test]
fn line_ends_and_a_byte_order_mark_change_nothing_but_offsets() {
    for text in [COURSE, PAGE] {
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        assert_eq!(outline(&windows), outline(text));
        assert_eq!(outline(text.trim_end()), outline(text));
        let document = parse(&windows).unwrap();
        for numeral in all_numerals(&document) {
            let written = &windows[numeral.span.clone()];
            assert!(written == numeral.text() || written.contains(['*', '&']) || numeral.is_word, "{written}");
        }
    }
}

#[test]
fn what_cannot_be_read_is_refused_at_its_place() {
    let lesson = "### L\n\nSource: https://e/l\n\n";
    for (text, place, message) in [
        (String::new(), None, "no lesson found"),
        ("## Only a topic\n".to_owned(), None, "no lesson found"),
        ("---\nsource: 'https://e/l'\n---\n\ntext\n".to_owned(), None, "no lesson found"),
        ("---\nlessons: 1\n".to_owned(), Some("---"), "front matter"),
        ("---\nsource: nowhere\n---\n".to_owned(), Some("source"), "address"),
        ("### L\n\nText\n".to_owned(), Some("###"), "Source"),
        ("### L\n".to_owned(), Some("###"), "Source"),
        ("### L\n\nSource: https://e/\n".to_owned(), Some("Source"), "address"),
        (format!("{lesson}```\n5\n"), Some("```"), "not closed"),
        (format!("{lesson}```"), Some("```"), "not closed"),
        (format!("{lesson}```\n5\n\n```js\n6\n```\n"), Some("```"), "not closed"),
        (format!("{lesson}> ```\n> 5\n\n6\n"), Some("```"), "not closed"),
    ] {
        let refused = parse(&text).unwrap_err();
        assert!(refused.message.contains(message), "{text}: {refused}");
        assert_eq!(refused.offset, place.and_then(|place| text.find(place)), "{text}");
    }
}

#[test]
fn no_input_panics_and_every_span_is_text() {
    fn property(pieces: Vec<(u8, char)>, cut: usize) -> bool {
        const PIECES: [&str; 40] = [
            "\n",
            "\n\n",
            "\r\n",
            "\t",
            " ",
            "    ",
            "#",
            "### ",
            "#### ",
            "- ",
            "1. ",
            "> ",
            "```",
            "```js",
            "~~~",
            "|",
            "|---|---|\n",
            "| a | 5 |\n",
            "**",
            "*",
            "_",
            "`",
            "[",
            "](",
            ")",
            "<",
            ">",
            "<!--",
            "-->",
            "&#53;",
            "\\\\",
            "5",
            "1,000.5%",
            "x2",
            "two",
            "é",
            "⁻⁶",
            "---\n",
            "\u{feff}",
            "Source: https://e/s\n\n",
        ];
        let start = (0..=cut % (COURSE.len() + 1)).rev().find(|&i| COURSE.is_char_boundary(i));
        let mut text = COURSE[..start.unwrap_or(0)].to_owned();
        for (i, c) in pieces {
            match PIECES.get(usize::from(i) % 42) {
                Some(piece) => text.push_str(piece),
                None => text.push(c),
            }
        }
        let Ok(document) = parse(&text) else {
            return true;
        };
        all_numerals(&document).iter().all(|numeral| {
            let written = text.get(numeral.span.clone()).unwrap_or_default();
            let is_plain = written.chars().all(|c| c.is_ascii_alphanumeric() || ".,%+-".contains(c));
            let agrees = written.to_lowercase().contains(&numeral.digits.to_lowercase());
            !written.is_empty() && (agrees || !is_plain)
        })
    }
    QuickCheck::new().tests(3_000).quickcheck(property as fn(Vec<(u8, char)>, usize) -> bool);
}
