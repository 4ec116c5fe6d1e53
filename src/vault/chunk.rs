//! Cuts large contents where their bytes say so, so that an edit in the middle
//! of a large file, or one new entry in a large index, adds a chunk or two
//! instead of the whole. Also what keeps memory flat for a file of any size.

/// Contents up to this size are kept in one piece.
pub(super) const WHOLE: usize = 256 << 10;

const MIN: usize = 16 << 10;
const MAX: usize = 256 << 10;
/// 16 bits: a cut every 64 KiB on average.
const MASK: u64 = 0xffff_0000_0000_0000;

/// A table of random numbers (splitmix64), one a byte value: the gear of `FastCDC`.
const GEAR: [u64; 256] = {
    let mut table = [0; 256];
    let mut state: u64 = 0x686f_6c64_706f_696e;
    let mut at = 0;
    while at < 256 {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        table[at] = z ^ (z >> 31);
        at += 1;
    }
    table
};

/// How many of the bytes at the front make the next chunk; `None` when more bytes are needed to tell.
pub(super) fn cut(bytes: &[u8], at_end: bool) -> Option<usize> {
    let limit = bytes.len().min(MAX);
    let looked = bytes.get(MIN..limit).unwrap_or_default();
    let gear = |byte: u8| GEAR[usize::from(byte)];
    let mut hash: u64 = 0;
    let mut at = MIN;
    let (fours, last) = looked.as_chunks::<4>();
    for [a, b, c, d] in fours.iter().copied() {
        // Four steps of the sum below at once: the next four wait for one addition only.
        let (a, b, c, d) = (gear(a), gear(b), gear(c), gear(d));
        let first = (hash << 1).wrapping_add(a);
        let second = (hash << 2).wrapping_add((a << 1).wrapping_add(b));
        let ab = (a << 2).wrapping_add(b << 1);
        let third = (hash << 3).wrapping_add(ab.wrapping_add(c));
        hash = (hash << 4).wrapping_add((ab.wrapping_add(c) << 1).wrapping_add(d));
        let sums = [first, second, third, hash];
        if let Some(step) = sums.iter().position(|sum| sum & MASK == 0) {
            return Some(at + step + 1);
        }
        at += 4;
    }
    for byte in last {
        hash = (hash << 1).wrapping_add(gear(*byte));
        at += 1;
        if hash & MASK == 0 {
            return Some(at);
        }
    }
    if limit == MAX || (at_end && limit > 0) {
        Some(limit)
    } else {
        None
    }
}

/// The most bytes that [`cut`] ever looks at.
pub(super) const LOOK: usize = MAX;

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(len: usize) -> Vec<u8> {
        let mut state = 7_u64;
        (0..len)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 56) as u8
            })
            .collect()
    }

    fn chunks(mut bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut out = Vec::new();
        while let Some(len) = cut(bytes, true) {
            let (head, tail) = bytes.split_at(len);
            out.push(head.to_vec());
            bytes = tail;
        }
        out
    }

    /// One byte after the other, as the four at a time have to come out.
    fn plain(bytes: &[u8]) -> usize {
        let mut hash: u64 = 0;
        for (at, byte) in bytes.iter().enumerate().take(MAX).skip(MIN) {
            hash = (hash << 1).wrapping_add(GEAR[usize::from(*byte)]);
            if hash & MASK == 0 {
                return at + 1;
            }
        }
        bytes.len().min(MAX)
    }

    #[test]
    fn a_cut_is_where_the_sum_of_single_bytes_puts_it() {
        let bytes = noise(2 << 20);
        for start in (0..1 << 20).step_by(4099) {
            let bytes = &bytes[start..];
            assert_eq!(cut(bytes, true), Some(plain(bytes)));
        }
        for len in [1, MIN - 1, MIN, MIN + 1, MIN + 2, MIN + 3, MIN + 4, MIN + 5] {
            assert_eq!(cut(&bytes[..len], true), Some(len));
            assert_eq!(cut(&bytes[..len], false), None);
        }
    }

    #[test]
    fn chunks_join_to_the_whole() {
        let bytes = noise(3 << 20);
        assert_eq!(chunks(&bytes).concat(), bytes);
    }

    #[test]
    fn an_inserted_byte_changes_few_chunks() {
        let bytes = noise(3 << 20);
        let mut edited = bytes.clone();
        edited.insert(1 << 20, b'x');
        let before = chunks(&bytes);
        let after = chunks(&edited);
        let new = after.iter().filter(|chunk| !before.contains(chunk)).count();
        assert!(new <= 2, "{new} of {} chunks are new", after.len());
    }
}
