//! Laws that hold for every document, checked on generated ones and against other implementations.

use proptest::char::range as char_range;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use serde::{Deserialize, Serialize};

use super::super::{
    Json, MAX_SAFE_INTEGER, Number, NumberFault, ReadErrorKind, from_json, from_text, normalize_numbers, read,
    read_str, to_json, to_text,
};

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,6}",
        any::<String>(),
        proptest::collection::vec(
            prop_oneof![
                Just('"'),
                Just('\\'),
                char_range('\0', '\u{1f}'),
                Just('\u{7f}'),
                char_range('\u{d000}', '\u{d7ff}'),
                char_range('\u{e000}', '\u{ffff}'),
                char_range('\u{10000}', '\u{10ffff}')
            ],
            0..6
        )
        .prop_map(String::from_iter),
    ]
}

fn documents(numbers: impl Strategy<Value = Json> + 'static) -> impl Strategy<Value = Json> {
    let leaves =
        prop_oneof![Just(Json::Null), any::<bool>().prop_map(Json::from), texts().prop_map(Json::from), numbers];
    leaves.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..8).prop_map(Json::from),
            proptest::collection::vec((texts(), inner), 0..8)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

fn safe_numbers() -> impl Strategy<Value = Json> {
    prop_oneof![-100..100_i64, -MAX_SAFE_INTEGER..=MAX_SAFE_INTEGER].prop_map(Json::from)
}

fn any_numbers() -> impl Strategy<Value = Json> {
    r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?".prop_map(|text| Json::Number(text.parse().unwrap()))
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Record {
    id: String,
    count: i64,
    size: u64,
    flags: Vec<bool>,
    note: Option<String>,
    by_name: std::collections::BTreeMap<String, Choice>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
enum Choice {
    Nothing,
    One(Box<Record>),
    Pair(i32, String),
    Named { left: u8, right: Option<char> },
}

fn records() -> impl Strategy<Value = Record> {
    fn record(choice: impl Strategy<Value = Choice>) -> impl Strategy<Value = Record> {
        let flags = proptest::collection::vec(any::<bool>(), 0..3);
        let by_name = proptest::collection::btree_map(texts(), choice, 0..3);
        (texts(), any::<i64>(), any::<u64>(), flags, proptest::option::of(texts()), by_name)
            .prop_map(|(id, count, size, flags, note, by_name)| Record { id, count, size, flags, note, by_name })
    }
    let simple = prop_oneof![
        Just(Choice::Nothing),
        (any::<i32>(), texts()).prop_map(|(number, text)| Choice::Pair(number, text)),
        (any::<u8>(), any::<Option<char>>()).prop_map(|(left, right)| Choice::Named { left, right }),
    ];
    record(prop_oneof![simple.clone(), record(simple).prop_map(|inner| Choice::One(Box::new(inner)))])
}

proptest! {
    #[test]
    fn what_was_written_reads_back_with_order_and_spelling(value in documents(any_numbers())) {
        let text = value.to_text();
        let again = read_str(&text).unwrap();
        prop_assert_eq!(&again, &value);
        prop_assert_eq!(again.to_text(), text);
    }

    #[test]
    fn the_writer_agrees_with_another_writer(value in documents(safe_numbers())) {
        prop_assert_eq!(serde_json::to_string(&value).unwrap(), value.to_text());
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(read_str(&pretty).unwrap().to_text(), value.to_text());
    }

    #[test]
    fn canonical_text_agrees_with_another_canonicalizer(value in documents(safe_numbers())) {
        let theirs: serde_json::Value = serde_json::from_str(&value.to_text()).unwrap();
        prop_assert_eq!(value.canonical().unwrap(), serde_json_canonicalizer::to_string(&theirs).unwrap());
    }

    #[test]
    fn canonical_text_is_its_own_canonical_text(value in documents(safe_numbers())) {
        let text = value.canonical().unwrap();
        let again = read_str(&text).unwrap();
        prop_assert_eq!(again.to_text(), text.clone());
        prop_assert_eq!(again.canonical().unwrap(), text);
    }

    #[test]
    fn normal_documents_are_exactly_those_with_a_canonical_text(value in documents(any_numbers())) {
        let canonical = value.canonical();
        let mut normal = value;
        prop_assert_eq!(normalize_numbers(&mut normal).is_ok(), canonical.is_ok());
        if let Ok(text) = canonical {
            prop_assert_eq!(normal.canonical().unwrap(), text);
        }
    }

    #[test]
    fn a_moved_point_does_not_change_the_value(
        digits in -20_000_000_000_000_000_i64..20_000_000_000_000_000,
        point in 0..20_usize,
        exponent in -25..25_i32,
    ) {
        let padded = format!("{:021}", digits.unsigned_abs());
        let (whole, decimals) = padded.split_at(padded.len() - point);
        let whole = match whole.trim_start_matches('0') { "" => "0", rest => rest };
        let point_and_decimals = if point == 0 { String::new() } else { format!(".{decimals}") };
        let sign = if digits < 0 { "-" } else { "" };
        let number: Number = format!("{sign}{whole}{point_and_decimals}e{exponent}").parse().unwrap();

        let scale = exponent - i32::try_from(point).unwrap();
        let power = 10_i128.pow(scale.unsigned_abs().min(20));
        let expected = match i128::from(digits) {
            0 => Ok(0),
            value if scale >= 0 => Ok(value * power),
            value if scale.unsigned_abs() <= 20 && value % power == 0 => Ok(value / power),
            _ => Err(NumberFault::NotAnInteger),
        };
        let expected = expected.and_then(|value| match i64::try_from(value) {
            Ok(safe) if safe.abs() <= MAX_SAFE_INTEGER => Ok(safe),
            _ => Err(NumberFault::OutOfSafeRange),
        });
        prop_assert_eq!(number.integer(), expected);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        if let Err(error) = read(&bytes) {
            prop_assert!(error.offset <= bytes.len());
        }
    }

    #[test]
    fn near_json_is_judged_as_by_another_strict_reader(tokens in proptest::collection::vec(
        prop_oneof![
            Just("{"), Just("}"), Just("["), Just("]"), Just(","), Just(":"), Just("\"a\""), Just("\"b\""),
            Just("\"\\u0061\""), Just("1"), Just("0"), Just("-"), Just("."), Just("e1"), Just("+"), Just("true"),
            Just("nul"), Just("null"), Just(" "), Just("\n"), Just("\""), Just("\\"), Just("\\ud83d"), Just("\\ude00"),
            Just("\t"), Just("é"),
        ],
        0..12,
    )) {
        let text = tokens.concat();
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        prop_assert_eq!(from_text::<Json>(&text).ok(), read_str(&text).ok(), "with and without the tree");
        match read_str(&text) {
            Ok(value) => prop_assert_eq!(serde_json::to_value(&value).unwrap(), theirs.unwrap()),
            Err(error) => prop_assert!(theirs.is_err() || error.kind == ReadErrorKind::DuplicateName, "{}", error),
        }
    }

    #[test]
    fn records_go_there_and_back_as_with_another_library(record in records()) {
        let json = to_json(&record).unwrap();
        let text = serde_json::to_string(&record).unwrap();
        prop_assert_eq!(json.to_text(), text.clone());
        prop_assert_eq!(to_text(&record).unwrap(), text.clone());
        prop_assert_eq!(from_text::<Record>(&text).unwrap(), record.clone());
        prop_assert_eq!(from_json::<Record>(json).unwrap(), record.clone());
        prop_assert_eq!(from_json::<Record>(read_str(&text).unwrap()).unwrap(), record);
    }

    #[test]
    fn json_passes_through_serde_unchanged(value in documents(any_numbers())) {
        let wrapped = to_json(&(1, &value)).unwrap();
        prop_assert_eq!(wrapped.as_array().unwrap()[1].to_text(), value.to_text());
        let text = to_text(&(1, &value)).unwrap();
        prop_assert_eq!(&text, &wrapped.to_text());
        let (_, back) = from_json::<(i64, Json)>(wrapped).unwrap();
        prop_assert_eq!(back.to_text(), value.to_text());
        let (_, back) = from_text::<(i64, Json)>(&text).unwrap();
        prop_assert_eq!(back.to_text(), value.to_text());
    }

    #[test]
    fn a_document_cut_or_changed_anywhere_is_judged_alike_with_and_without_the_tree(
        record in records(),
        at in any::<proptest::sample::Index>(),
        instead in proptest::option::of(prop_oneof![
            Just('"'), Just('{'), Just('}'), Just('['), Just(']'), Just(','), Just(':'), Just('0'), Just('n'), Just('\\'),
        ]),
    ) {
        let mut text: Vec<char> = to_text(&record).unwrap().chars().collect();
        let at = at.index(text.len());
        match instead {
            Some(character) => text[at] = character,
            None => text.truncate(at),
        }
        let text = String::from_iter(text);
        let with = read_str(&text).ok().and_then(|json| from_json::<Record>(json).ok());
        prop_assert_eq!(from_text::<Record>(&text).ok(), with, "{}", text);
    }

    #[test]
    fn a_member_is_cut_out_of_canonical_text_as_out_of_the_value(
        value in documents(safe_numbers()),
        member in texts(),
        there in any::<bool>(),
    ) {
        let Json::Object(mut object) = value else { return Ok(()) };
        if there {
            object.insert(member.as_str(), 7);
        }
        let mut text = String::new();
        let span = object.write_canonical_around(&member, &mut text).unwrap();
        prop_assert_eq!(&text, &Json::Object(object.clone()).canonical().unwrap());
        prop_assert_eq!(span.is_some(), object.contains_key(&member));
        if let Some(span) = span {
            text.replace_range(span, "");
        }
        object.remove(&member);
        prop_assert_eq!(text, Json::Object(object).canonical().unwrap());
    }
}
