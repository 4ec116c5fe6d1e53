//! Makes trees of what a walk found, from the deepest directory up.
//!
//! Only directories that differ from the cache, and those above them, are
//! written; everything else keeps its tree.

use super::cache::{Cache, Root, write_block, write_row};
use super::id::ContentId;
use super::stamp::Stamp;
use super::store::Packer;
use super::tree::{Kind, Row, Tree, Why};
use super::walk::{Node, Outcome, Seen, Side, Visit};
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
    /// Trees that are new against the cache, by id.
    pub(super) trees: HashMap<ContentId, Tree>,
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
    rows: Vec<Seen>,
}

/// Makes the trees of the sides that were walked; they go through `packer`.
pub(super) fn assemble(
    cache: &Cache,
    visits: Vec<Visit>,
    sides: &[Side],
    packer: &mut Packer<'_>,
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
    while let Some(level) = levels.pop() {
        for (key, open) in level {
            let block = open.node.cached.unwrap_or_else(|| {
                next += 1;
                next - 1
            });
            let closed = close(cache, &key, &open.rows, &done);
            let tree = Tree { rows: closed.tree };
            let id = packer.put(&tree.encode())?;
            let mut bytes = write_block(&open.stamp, open.racy, &id);
            for seen in &closed.kept {
                write_row(&seen.row(), &mut bytes);
            }
            picture.blocks.insert(block, bytes);
            picture.trees.insert(id, tree);
            let mode = open.stamp.permissions();
            let as_before = cache
                .block(block)
                .is_some_and(|old| old.tree == id && old.stamp.permissions() == mode);
            if !as_before {
                raise(cache, &open.node, &mut levels);
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
            rows: block.rows().map(|row| Seen::cached(&row)).collect(),
        },
    );
}

struct Closed {
    tree: Vec<Row>,
    kept: Vec<Seen>,
}

/// Fills in what is known of the directories below.
fn close(cache: &Cache, key: &Key, rows: &[Seen], done: &HashMap<Key, Done>) -> Closed {
    let mut closed = Closed {
        tree: Vec::with_capacity(rows.len()),
        kept: Vec::with_capacity(rows.len()),
    };
    for seen in rows {
        let mut seen = seen.clone();
        let mut row = Row {
            name: seen.name.clone(),
            kind: seen.kind,
            mode: seen.stamp.permissions(),
            size: seen.stamp.size,
            id: seen.id,
        };
        match seen.kind {
            Kind::Dir => {
                let mut path = key.1.clone();
                if !path.is_empty() {
                    path.push(b'/');
                }
                path.extend_from_slice(&seen.name);
                row.size = 0;
                match done.get(&(key.0, path)) {
                    Some(Done::Dir { block, tree, mode }) => {
                        (row.id, row.mode) = (*tree, *mode);
                        seen.block = Some(*block);
                    }
                    Some(Done::Gone) => continue,
                    Some(Done::Unreadable) => {
                        row.kind = Kind::NotHeld(Why::Unreadable);
                        seen.kind = row.kind;
                        seen.block = None;
                        seen.flags = super::cache::RACY;
                    }
                    None => {
                        let Some(old) = seen.block.and_then(|block| cache.block(block)) else {
                            continue;
                        };
                        (row.id, row.mode) = (old.tree, old.stamp.permissions());
                    }
                }
            }
            Kind::Link => row.mode = 0o777,
            Kind::Device => {
                row.mode = seen.stamp.mode;
                row.size = 0;
            }
            Kind::Fifo | Kind::Socket => row.size = 0,
            Kind::NotHeld(_) => (row.mode, row.size) = (0, 0),
            Kind::File | Kind::Object => {}
        }
        closed.tree.push(row);
        closed.kept.push(seen);
    }
    closed
}
