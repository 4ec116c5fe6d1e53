//! The list of other repositories whose objects a repository borrows. Pure.
//!
//! Without an entry that was there, commits cannot be read. Without one that came
//! since, newer commits cannot. So the entries of the point come back, and of those
//! that came since the ones stay that lead somewhere.

use bstr::{BString, ByteSlice};

/// Where the list lies in a git directory.
pub(super) const PATH: &[u8] = b"objects/info/alternates";

/// What the list has to say; `None` where it says so already.
pub(super) fn mended(
    now: &[u8],
    then: &[u8],
    leads_somewhere: impl Fn(&[u8]) -> bool,
) -> Option<BString> {
    let entries = |bytes| -> Vec<Vec<u8>> { ByteSlice::lines(bytes).map(<[u8]>::to_vec).collect() };
    let (present, wanted) = (entries(now), entries(then));
    let is_whole = wanted.iter().all(|entry| present.contains(entry));
    let newer = present.iter().filter(|entry| !wanted.contains(entry));
    let (good, bad): (Vec<_>, Vec<_>) = newer.partition(|entry| leads_somewhere(entry));
    if is_whole && bad.is_empty() {
        return None;
    }
    let mut list = BString::from(then);
    for entry in good {
        if !list.is_empty() && !list.ends_with(b"\n") {
            list.push(b'\n');
        }
        list.extend_from_slice(entry);
        list.push(b'\n');
    }
    Some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_and_good_new_ones_stay() {
        for (now, then, expected) in [
            ("/a\n", "/a\n", None),
            ("/a\n/new\n", "/a\n", None),
            ("/gone\n", "/a\n", Some("/a\n")),
            ("", "/a\n", Some("/a\n")),
            ("/new\n", "/a", Some("/a\n/new\n")),
            ("/a\n/gone\n", "/a\n", Some("/a\n")),
            ("/new\n/gone\n", "/a\n/b\n", Some("/a\n/b\n/new\n")),
        ] {
            let found = mended(now.as_bytes(), then.as_bytes(), |entry| entry == b"/new");
            assert_eq!(found, expected.map(BString::from), "{now:?} {then:?}");
        }
    }
}
