//! What differs between two trees; only what has another id is looked at.

use super::id::ContentId;
use super::store::Store;
use super::tree::{Kind, Row, Tree};
use crate::error::Result;
use bstr::BString;
use std::collections::HashMap;

/// One path that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The path, relative to the top.
    pub path: BString,
    /// What was there.
    pub before: Option<Row>,
    /// What is there.
    pub after: Option<Row>,
}

/// Directories that are only in memory, as their bytes.
pub(super) type Fresh = HashMap<ContentId, Vec<u8>>;

/// Reads trees from the vault and from a picture that was not kept.
pub(super) struct Trees<'a> {
    /// The vault.
    pub(super) store: &'a Store,
    /// Trees that are only in memory.
    pub(super) fresh: &'a Fresh,
}

impl Trees<'_> {
    /// A directory by its id.
    pub(super) fn get(&self, id: &ContentId) -> Result<Tree> {
        match self.fresh.get(id) {
            Some(bytes) => Tree::decode(bytes),
            None => self.store.tree(id),
        }
    }

    /// The row of a path below a tree; `None` where there is none.
    pub(super) fn find(&self, top: &ContentId, path: &[u8]) -> Result<Option<Row>> {
        let mut id = *top;
        let mut names = path.split(|byte| *byte == b'/').peekable();
        while let Some(name) = names.next() {
            let Some(row) = self.get(&id)?.get(name).cloned() else {
                return Ok(None);
            };
            if names.peek().is_none() {
                return Ok(Some(row));
            }
            if row.kind != Kind::Dir {
                return Ok(None);
            }
            id = row.id;
        }
        Ok(None)
    }

    /// Lists all paths that differ, a directory before what is in it.
    pub(super) fn diff(
        &self,
        before: Option<ContentId>,
        after: Option<ContentId>,
    ) -> Result<Vec<Difference>> {
        let mut out = Vec::new();
        if before != after {
            self.descend(&BString::default(), before, after, &mut out)?;
        }
        Ok(out)
    }

    fn descend(
        &self,
        path: &BString,
        before: Option<ContentId>,
        after: Option<ContentId>,
        out: &mut Vec<Difference>,
    ) -> Result<()> {
        let rows = |id: Option<ContentId>| -> Result<Vec<Row>> {
            Ok(match id {
                Some(id) => self.get(&id)?.rows,
                None => Vec::new(),
            })
        };
        let mut before = rows(before)?.into_iter().peekable();
        let mut after = rows(after)?.into_iter().peekable();
        loop {
            let order = match (before.peek(), after.peek()) {
                (None, None) => return Ok(()),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some(a), Some(b)) => a.name.cmp(&b.name),
            };
            let a = order.is_le().then(|| before.next()).flatten();
            let b = order.is_ge().then(|| after.next()).flatten();
            if a == b {
                continue;
            }
            let Some(name) = a.as_ref().or(b.as_ref()).map(|row| &row.name) else {
                continue;
            };
            let mut here = path.clone();
            if !here.is_empty() {
                here.push(b'/');
            }
            here.extend_from_slice(name);
            let dir = |row: &Option<Row>| {
                row.as_ref()
                    .filter(|row| row.kind == Kind::Dir)
                    .map(|row| row.id)
            };
            let (below_a, below_b) = (dir(&a), dir(&b));
            let own = match (&a, &b) {
                (Some(a), Some(b)) => a.kind != b.kind || a.mode != b.mode || below_a.is_none(),
                _ => true,
            };
            if own {
                out.push(Difference {
                    path: here.clone(),
                    before: a,
                    after: b,
                });
            }
            if below_a != below_b {
                self.descend(&here, below_a, below_b, out)?;
            }
        }
    }
}

/// Trees that are in memory only; empty for a point.
pub(super) fn no_trees() -> Fresh {
    Fresh::new()
}
