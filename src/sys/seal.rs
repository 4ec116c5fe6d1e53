//! Seals on Holdpoint's own records: a keyed hash with a key that only this user can read.
//!
//! A seal shows that a record was written by Holdpoint, here, and is as it was
//! written. It stops a record that was forged, edited, or carried over from
//! another repository. It does not stop a program of the same user that reads
//! the key; an SSH signature or a sandbox does (SPEC §5, §8).

use super::env::Env;
use super::files;
use super::lock::Lock;
use crate::error::{Context as _, Error, ErrorKind, Result};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Bytes of the key.
const KEY: usize = 32;

/// The key of this user's seals.
#[derive(Clone)]
pub struct Seal {
    key: [u8; KEY],
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal(…)")
    }
}

impl Seal {
    /// Reads the key, making it the first time.
    ///
    /// # Errors
    /// When it cannot be read or made, or when others may read it.
    pub fn open(env: &Env) -> Result<Self> {
        Self::in_home(&env.state_home()?)
    }

    /// The same for who knows where Holdpoint's state is.
    ///
    /// # Errors
    /// As [`Seal::open`].
    pub fn in_home(dir: &Path) -> Result<Self> {
        let path = dir.join("seal.key");
        if let Some(seal) = Self::read(&path)? {
            return Ok(seal);
        }
        files::make_private_dir(dir)?;
        let _lock = Lock::wait(&dir.join("seal.lock"))?;
        if let Some(seal) = Self::read(&path)? {
            return Ok(seal);
        }
        let mut key = [0; KEY];
        rustix::rand::getrandom(&mut key, rustix::rand::GetRandomFlags::empty())
            .doing(ErrorKind::Internal, || "cannot get random bytes".to_owned())?;
        files::replace(&path, &key, 0o600, files::Durability::Synced)?;
        Ok(Self { key })
    }

    fn read(path: &Path) -> Result<Option<Self>> {
        let Some(bytes) = files::read_if_there(path)? else {
            return Ok(None);
        };
        let doing = || format!("cannot use the key {}", path.display());
        let mode = std::fs::metadata(path).doing(ErrorKind::Io, doing)?.mode();
        if mode & 0o077 != 0 {
            return Err(Error::new(
                ErrorKind::Damaged,
                format!("{}: others may read it", doing()),
            )
            .hint(format!("chmod 600 {}", path.display())));
        }
        let key = bytes
            .try_into()
            .map_err(|_| Error::new(ErrorKind::Damaged, format!("{}: it is cut", doing())))?;
        Ok(Some(Self { key }))
    }

    /// The seal of some parts, for one purpose; hex.
    #[must_use]
    pub fn of(&self, purpose: &str, parts: &[&[u8]]) -> String {
        self.hash(purpose, parts).to_hex().to_string()
    }

    /// Returns true when `seal` is that of the parts; compares in constant time.
    #[must_use]
    pub fn fits(&self, seal: &str, purpose: &str, parts: &[&[u8]]) -> bool {
        blake3::Hash::from_hex(seal).is_ok_and(|seal| seal == self.hash(purpose, parts))
    }

    fn hash(&self, purpose: &str, parts: &[&[u8]]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        // Lengths keep one part from running into the next.
        for part in std::iter::once(purpose.as_bytes()).chain(parts.iter().copied()) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.finalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_fits_only_its_own_parts_and_purpose() {
        let seal = Seal { key: [7; KEY] };
        let mark = seal.of("hold", &[b"ab", b"c"]);
        assert!(seal.fits(&mark, "hold", &[b"ab", b"c"]));
        assert!(!seal.fits(&mark, "hold", &[b"a", b"bc"]));
        assert!(!seal.fits(&mark, "policy", &[b"ab", b"c"]));
        assert!(!seal.fits("", "hold", &[b"ab", b"c"]));
        assert!(!Seal { key: [8; KEY] }.fits(&mark, "hold", &[b"ab", b"c"]));
    }
}
