//! Reads any bytes as decisions: no panic, no endless work, and no correction that does not hold.
#![no_main]

use holdpoint::decisions::{
    Expected, Known, correct, documents::split, json, queue, unreadable, validate_text,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let known = Known::default();
    let mut order = Vec::new();
    let mut end = 0;
    for (index, document) in split(bytes).enumerate() {
        assert!(document.span.start >= end, "decisions overlap");
        assert!(document.span.end <= bytes.len(), "a decision beyond the input");
        end = document.span.end;
        let text = &bytes[document.span.clone()];
        let report = match &document.flaw {
            Some(flaw) => unreadable(flaw),
            None => validate_text(text, &known, Expected::default()),
        };
        for fault in &report.faults {
            assert!(
                fault.pointer.is_empty() || fault.pointer.starts_with('/'),
                "no JSON pointer: {:?}",
                fault.pointer
            );
        }
        if report.is_valid() {
            // Whatever is valid is JSON for every reader.
            let value: serde_json::Value =
                serde_json::from_slice(text).expect("a valid decision is JSON");
            assert!(value.is_object());
            order.extend(report.kind.map(|kind| (index, kind)));
        } else if document.flaw.is_none()
            && let Ok(mut read) = json::read(text)
        {
            let (_, after) = correct(&mut read, &known, Expected::default());
            if after.is_valid() {
                let again = read.value.to_value().to_string();
                let again = validate_text(again.as_bytes(), &known, Expected::default());
                assert!(again.is_valid(), "a correction does not hold: {:?}", again.faults);
            }
        }
    }
    assert_eq!(queue::order(&order).len(), order.len());
});
