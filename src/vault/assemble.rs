//! Makes trees of what a walk found, from the deepest directory up.
//!
//! Only directories that differ from the cache, and those above them, are
//! written; everything else keeps its tree. Rows stay bytes as the cache writes
//! them, so that a first point of many files needs little more memory than its cache.

use super::cache::{Block, Cache, CachedRow, Root, Rows, block_id, write_block, write_row};
use super::diff::Fresh;
use super::id::ContentId;
use super::stamp::Stamp;
use super::store::Packer;
use super::tree::{self, Kind, Leaf, Why};
use super::walk::{Node, Outcome, Side, Visit};
use crate::error::Result;
use bstr::{BString, ByteSlice as _};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The trees of a picture, and what the cache has to learn.
#[derive(Debug, Default)]
pub(super) struct Picture {
    /// The worktree.
    pub(super) work: Option<Root>,
    /// The git directory.
    pub(super) git: Option<Root>,
    /// New or changed blocks of the cache.
    pub(super) blocks: BTreeMap<u32, Vec<u8>>,
    /// Trees that are new against the cache, by id, where they were asked for.
    pub(super) trees: Fresh,
    /// How many files, links and the like of the worktree differ from the cache.
    pub(super) changed: usize,
}

/// Whether new trees stay in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remember {
    /// They do.
    Trees,
    /// They are in the pack, or not wanted.
    Nothing,
}

type Key = (Side, BString);

enum Done {
    Gone,
    Unreadable,
    Dir {
        block: u32,
        tree: ContentId,
        mode: u32,
    },
}

struct Open {
    node: Arc<Node>,
    stamp: Stamp,
    racy: bool,
    rows: Vec<u8>,
}

/// Makes the trees of the sides that were walked; they go through `packer`.
pub(super) fn assemble(
    cache: &Cache,
    visits: Vec<Visit>,
    sides: &[Side],
    packer: &mut Packer<'_>,
    remember: Remember,
) -> Result<Picture> {
    let mut levels: Vec<HashMap<Key, Open>> = Vec::new();
    let mut done: HashMap<Key, Done> = HashMap::new();
    for Visit { node, outcome } in visits {
        let key = (node.side, node.path.clone());
        match outcome {
            Outcome::Gone => {
                raise(cache, &node, &mut levels);
                done.insert(key, Done::Gone);
            }
            Outcome::Unreadable => {
                raise(cache, &node, &mut levels);
                done.insert(key, Done::Unreadable);
            }
            Outcome::Listed { stamp, racy, rows } => {
                let level = depth(&node);
                level_mut(&mut levels, level).insert(
                    key,
                    Open {
                        node,
                        stamp,
                        racy,
                        rows,
                    },
                );
            }
        }
    }
    let mut picture = Picture {
        work: cache.header.work.filter(|_| sides.contains(&Side::Work)),
        git: cache.header.git.filter(|_| sides.contains(&Side::Git)),
        ..Picture::default()
    };
    let mut next = cache.next_block();
    let mut closed = Closed::default();
    while let Some(level) = levels.pop() {
        for (key, open) in level {
            let block = open.node.cached.unwrap_or_else(|| {
                next += 1;
                next - 1
            });
            closed.fill(cache, &key, &open, &done);
            let old = cache.block(block);
            if key.0 == Side::Work {
                picture.changed += changes(cache, old.as_ref(), &closed.kept, open.stamp.dev);
            }
            let id = packer.put(&closed.tree)?;
            let mode = open.stamp.permissions();
            if !old.is_some_and(|old| old.tree == id && old.stamp.permissions() == mode) {
                raise(cache, &open.node, &mut levels);
            }
            let mut bytes = open.rows;
            write_block(&open.stamp, open.racy, &id, &closed.kept, &mut bytes);
            picture.blocks.insert(block, bytes);
            if remember == Remember::Trees {
                picture.trees.insert(id, closed.tree.clone());
            }
            if key.1.is_empty() {
                let root = Some(Root {
                    block,
                    tree: id,
                    mode,
                });
                match key.0 {
                    Side::Work => picture.work = root,
                    Side::Git => picture.git = root,
                }
            }
            done.insert(
                key,
                Done::Dir {
                    block,
                    tree: id,
                    mode,
                },
            );
        }
    }
    Ok(picture)
}

fn depth(node: &Node) -> usize {
    if node.path.is_empty() {
        0
    } else {
        1 + node.path.find_iter("/").count()
    }
}

fn level_mut(levels: &mut Vec<HashMap<Key, Open>>, level: usize) -> &mut HashMap<Key, Open> {
    if levels.len() <= level {
        levels.resize_with(level + 1, HashMap::new);
    }
    let last = levels.len() - 1;
    &mut levels[level.min(last)]
}

/// Opens the directory above again, as the cache has it, because a directory below it changed.
fn raise(cache: &Cache, node: &Node, levels: &mut Vec<HashMap<Key, Open>>) {
    let Some(parent) = &node.parent else {
        return;
    };
    let key = (parent.side, parent.path.clone());
    let level = level_mut(levels, depth(parent));
    if level.contains_key(&key) {
        return;
    }
    let Some(block) = parent.cached.and_then(|block| cache.block(block)) else {
        return;
    };
    level.insert(
        key,
        Open {
            node: Arc::clone(parent),
            stamp: block.stamp,
            racy: block.racy,
            rows: block.raw().to_vec(),
        },
    );
}

/// A directory whose directories below are known: buffers that are used again and again.
#[derive(Default)]
struct Closed {
    /// Its tree's bytes.
    tree: Vec<u8>,
    /// Its rows for the cache.
    kept: Vec<u8>,
}

impl Closed {
    /// Fills in what is known of the directories below.
    fn fill(&mut self, cache: &Cache, key: &Key, open: &Open, done: &HashMap<Key, Done>) {
        tree::start(&mut self.tree);
        self.kept.clear();
        let mut path = key.1.clone();
        if !path.is_empty() {
            path.push(b'/');
        }
        let top = path.len();
        for mut row in Rows::new(&open.rows, open.stamp.dev) {
            let mut leaf = leaf(&row);
            if row.kind == Kind::Dir {
                path.truncate(top);
                path.extend_from_slice(row.name);
                match done.get(&(key.0, path.clone())) {
                    Some(Done::Dir { block, tree, mode }) => {
                        (leaf.id, leaf.mode) = (*tree, *mode);
                        row.id = block_id(*block);
                    }
                    Some(Done::Gone) => continue,
                    Some(Done::Unreadable) => {
                        row.kind = Kind::NotHeld(Why::Unreadable);
                        row.flags = super::cache::RACY;
                        row.id = ContentId::default();
                        leaf.kind = row.kind;
                        leaf.mode = 0;
                    }
                    None => {
                        let Some(old) = cache.block(row.block()) else {
                            continue;
                        };
                        (leaf.id, leaf.mode) = (old.tree, old.stamp.permissions());
                    }
                }
            }
            leaf.write(row.name, &mut self.tree);
            write_row(&row, &mut self.kept);
        }
    }
}

/// What a row of the cache says in a tree; a directory's tree is filled in by the caller.
fn leaf(row: &CachedRow<'_>) -> Leaf {
    let (mode, size) = match row.kind {
        Kind::Dir | Kind::NotHeld(_) => (0, 0),
        Kind::Link => (0o777, row.stamp.size),
        Kind::Device => (row.stamp.mode, 0),
        Kind::Fifo | Kind::Socket => (row.stamp.permissions(), 0),
        Kind::File | Kind::Object | Kind::SmallObject => (row.stamp.permissions(), row.stamp.size),
    };
    let id = match row.kind {
        Kind::Dir => ContentId::default(),
        _ => row.id,
    };
    Leaf {
        kind: row.kind,
        mode,
        size,
        id,
    }
}

/// Counts what differs in one directory, and what went with directories that are gone.
fn changes(cache: &Cache, old: Option<&Block<'_>>, rows: &[u8], dev: u64) -> usize {
    let mut count = 0;
    let mut before = old.map(Block::rows).into_iter().flatten().peekable();
    let mut after = Rows::new(rows, dev).peekable();
    loop {
        let order = match (before.peek(), after.peek()) {
            (None, None) => return count,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(a), Some(b)) => a.name.cmp(b.name),
        };
        let a = order.is_le().then(|| before.next()).flatten();
        let b = order.is_ge().then(|| after.next()).flatten();
        let is_dir = |row: &Option<CachedRow<'_>>| row.is_some_and(|row| row.kind == Kind::Dir);
        count += match (is_dir(&a), is_dir(&b)) {
            (true, true) => 0,
            (true, false) => below(cache, a.as_ref()) + usize::from(b.is_some()),
            (false, true) => usize::from(a.is_some()),
            (false, false) => usize::from(a.as_ref().map(leaf) != b.as_ref().map(leaf)),
        };
    }
}

/// Counts what the cache has below a directory.
fn below(cache: &Cache, row: Option<&CachedRow<'_>>) -> usize {
    let mut count = 0;
    let mut waiting: Vec<u32> = row.map(CachedRow::block).into_iter().collect();
    while let Some(block) = waiting.pop() {
        for row in cache.block(block).iter().flat_map(Block::rows) {
            if row.kind == Kind::Dir {
                waiting.push(row.block());
            } else {
                count += 1;
            }
        }
    }
    count
}
