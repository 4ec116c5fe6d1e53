//! A plan's nodes and edges as a graph: ends that exist, no cycle, no orphan.

use super::json::quoted;
use super::pointer::At;
use super::report::{Code, Report};
use super::tree::Json;
use std::collections::HashMap;

/// Cycles named one by one; a dense plan could hold very many.
const MAX_CYCLES: usize = 10;

/// Checks the graph of a plan.
pub(super) fn check(report: &mut Report, nodes: &[Json<'_>], edges: &[Json<'_>], at: &At<'_>) {
    let ids = index(report, nodes, &at.key("nodes"));
    let graph = connect(report, &ids, edges, &at.key("edges"));
    orphans(report, nodes, &ids, &graph, &at.key("nodes"));
    cycles(report, &ids, &graph, &at.key("edges"));
}

/// The ids in the order of their first appearance.
struct Ids<'n> {
    places: HashMap<&'n str, usize>,
    names: Vec<&'n str>,
    /// Where in the list of nodes each id stands first.
    items: Vec<usize>,
}

struct Graph {
    /// From each node: the nodes it leads to, and by which edge.
    out: Vec<Vec<(usize, usize)>>,
    touched: Vec<bool>,
}

fn index<'n>(report: &mut Report, nodes: &'n [Json<'_>], at: &At<'_>) -> Ids<'n> {
    let mut ids = Ids {
        places: HashMap::with_capacity(nodes.len()),
        names: Vec::with_capacity(nodes.len()),
        items: Vec::with_capacity(nodes.len()),
    };
    for (item, node) in nodes.iter().enumerate() {
        let Some(id) = node
            .as_object()
            .and_then(|node| node.get("node_id"))
            .and_then(Json::as_text)
        else {
            continue;
        };
        if let Some(first) = ids.places.get(id).and_then(|place| ids.items.get(*place)) {
            report.fault(
                Code::PlanDuplicate,
                &at.index(item).key("node_id"),
                format!("{} is the id of node {first} already", quoted(id)),
            );
            continue;
        }
        ids.places.insert(id, ids.names.len());
        ids.names.push(id);
        ids.items.push(item);
    }
    ids
}

fn connect(report: &mut Report, ids: &Ids<'_>, edges: &[Json<'_>], at: &At<'_>) -> Graph {
    let mut graph = Graph {
        out: vec![Vec::new(); ids.names.len()],
        touched: vec![false; ids.names.len()],
    };
    for (number, edge) in edges.iter().enumerate() {
        let Some(edge) = edge.as_object() else {
            continue;
        };
        let here = at.index(number);
        let mut end = |name: &'static str| {
            let id = edge.get(name).and_then(Json::as_text)?;
            let place = ids.places.get(id).copied();
            if place.is_none() && !id.trim().is_empty() {
                report.fault(
                    Code::PlanEnd,
                    &here.key(name),
                    format!("there is no node {} in this plan", quoted(id)),
                );
            }
            place
        };
        let (source, target) = (end("source"), end("target"));
        for place in [source, target].into_iter().flatten() {
            if let Some(touched) = graph.touched.get_mut(place) {
                *touched = true;
            }
        }
        if let (Some(source), Some(target)) = (source, target)
            && let Some(out) = graph.out.get_mut(source)
        {
            out.push((target, number));
        }
    }
    graph
}

fn orphans(report: &mut Report, nodes: &[Json<'_>], ids: &Ids<'_>, graph: &Graph, at: &At<'_>) {
    // One node by itself is a whole plan.
    if nodes.len() < 2 {
        return;
    }
    for ((id, item), touched) in ids.names.iter().zip(&ids.items).zip(&graph.touched) {
        let kind = nodes
            .get(*item)
            .and_then(Json::as_object)
            .and_then(|node| node.get("type"))
            .and_then(Json::as_text);
        let end = matches!(kind, Some("START" | "END"));
        if !touched && !end {
            report.fault(
                Code::PlanOrphan,
                &at.index(*item),
                format!(
                    "node {} has no edge: nothing leads to it or from it",
                    quoted(id)
                ),
            );
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    Open,
    Done,
}

/// Walks the graph in depth; an edge back to an open node closes a cycle.
fn cycles(report: &mut Report, ids: &Ids<'_>, graph: &Graph, at: &At<'_>) {
    let mut marks = vec![Mark::New; ids.names.len()];
    let mut found = 0;
    for root in 0..ids.names.len() {
        if marks.get(root) != Some(&Mark::New) {
            continue;
        }
        let mut path: Vec<(usize, usize)> = Vec::new();
        enter(&mut marks, &mut path, root);
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            let edge = graph.out.get(node).and_then(|out| out.get(*next)).copied();
            *next += 1;
            let Some((target, number)) = edge else {
                if let Some(mark) = marks.get_mut(node) {
                    *mark = Mark::Done;
                }
                path.pop();
                continue;
            };
            match marks.get(target) {
                Some(Mark::New) => enter(&mut marks, &mut path, target),
                Some(Mark::Open) if found < MAX_CYCLES => {
                    found += 1;
                    report.fault(
                        Code::PlanCycle,
                        &at.index(number),
                        format!("this edge closes a cycle: {}", spelled(ids, &path, target)),
                    );
                }
                _ => {}
            }
        }
    }
}

fn enter(marks: &mut [Mark], path: &mut Vec<(usize, usize)>, node: usize) {
    if let Some(mark) = marks.get_mut(node) {
        *mark = Mark::Open;
    }
    path.push((node, 0));
}

fn spelled(ids: &Ids<'_>, path: &[(usize, usize)], back_to: usize) -> String {
    let mut names: Vec<&str> = path
        .iter()
        .skip_while(|(node, _)| *node != back_to)
        .filter_map(|(node, _)| ids.names.get(*node).copied())
        .collect();
    names.extend(ids.names.get(back_to).copied());
    names.join(" -> ")
}
