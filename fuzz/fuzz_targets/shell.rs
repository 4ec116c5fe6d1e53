//! Reads any bytes as a shell script: no panic, no endless work, no deed forgotten when more follows.
#![no_main]

use bstr::ByteSlice as _;
use holdpoint::shell::{Nothing, Scope, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let scope = Scope::new("/srv/project");
    let script = read(text.as_bstr(), &scope, &Nothing);
    // A command on a line of its own before it stays what it is.
    let mut longer = b"rm -rf src\n".to_vec();
    longer.extend_from_slice(text);
    let both = read(longer.as_bstr(), &scope, &Nothing);
    assert!(!both.deeds.is_empty(), "a deletion was forgotten");
    drop(script);
});
