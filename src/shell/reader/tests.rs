//! The reader on well-formed, odd and broken text.

use super::read;
use crate::shell::syntax::{Join, Node, Part};

fn words(text: &str) -> Vec<usize> {
    let mut counts = Vec::new();
    for node in read(text.as_bytes()) {
        collect(&node, &mut counts);
    }
    counts
}

fn collect(node: &Node, counts: &mut Vec<usize>) {
    match node {
        Node::Simple(simple) => counts.push(simple.words.len()),
        Node::Pipe(stages) => stages.iter().for_each(|node| collect(node, counts)),
        Node::List(items) => items.iter().for_each(|(_, node)| collect(node, counts)),
        Node::Subshell(body) | Node::Group(body) => {
            body.iter().for_each(|node| collect(node, counts));
        }
        Node::For { body, .. } => body.iter().for_each(|node| collect(node, counts)),
        Node::While { condition, body } => condition
            .iter()
            .chain(body.iter())
            .for_each(|node| collect(node, counts)),
        Node::Branches(branches) => branches
            .iter()
            .flat_map(|branch| branch.iter())
            .for_each(|node| collect(node, counts)),
        Node::Function { body, .. } => collect(body, counts),
        Node::Redirected(node, _) | Node::Background(node) => collect(node, counts),
        Node::Words(_) => {}
        Node::Broken(why) => panic!("{why}"),
    }
}

#[test]
fn commands_and_their_words_are_found() {
    for (text, expected) in [
        ("a b c", vec![3]),
        ("a; b c\nd", vec![1, 2, 1]),
        ("a && b || c", vec![1, 1, 1]),
        ("a | b |& c", vec![1, 1, 1]),
        ("a 'b c' \"d $e\" f\\ g", vec![4]),
        ("if a; then b c; else d; fi", vec![1, 2, 1]),
        ("for x in 1 2; do a $x; done; b", vec![2, 1]),
        ("while read x; do a; done < f", vec![2, 1]),
        ("case $x in a|b) c d;; *) e;; esac", vec![2, 1]),
        ("f() { a b; }; f", vec![2, 1]),
        ("function f { a; }", vec![1]),
        ("(a; b) > f 2>&1", vec![1, 1]),
        ("{ a; b c; }", vec![1, 2]),
        ("a # b c d\ne", vec![1, 1]),
        ("cat <<EOF\nrm -rf /\nEOF\nb", vec![1, 1]),
        ("cat <<'A' <<B; c\nx\nA\ny\nB\nd", vec![1, 1, 1]),
        ("a <<< 'x y' b", vec![2]),
        ("[[ $a == b && -f c ]] && d", vec![1]),
        ("(( i > 3 )) || e f", vec![2]),
        ("for ((i=0;i<3;i++)); do a; done", vec![1]),
        ("a $(b c | d) `e f`", vec![3]),
        ("! a; time -p b c", vec![1, 2]),
        ("a & b", vec![1, 1]),
        ("x=1 y=(a b) z+=c d e", vec![2]),
        ("a >&2 2>/dev/null </dev/null b", vec![2]),
        ("a {b,c} ${d:-e f} $((1 + 2))", vec![4]),
    ] {
        assert_eq!(words(text), expected, "{text}");
    }
}

#[test]
fn a_list_remembers_how_its_commands_hang_together() {
    let nodes = read(b"a && b; c || d");
    let [Node::List(items)] = nodes.as_slice() else {
        panic!("{nodes:?}");
    };
    let joins: Vec<Join> = items.iter().map(|(join, _)| *join).collect();
    assert_eq!(joins, [Join::Always, Join::And, Join::Always, Join::Or]);
}

#[test]
fn a_here_document_in_a_substitution_keeps_its_text() {
    let nodes = read(b"git commit -m \"$(cat <<'EOF'\nfix: it's (done)\nEOF\n)\"");
    let [Node::Simple(simple)] = nodes.as_slice() else {
        panic!("{nodes:?}");
    };
    let Some([Part::Command { body, .. }]) = simple.words.last().map(Vec::as_slice) else {
        panic!("{simple:?}");
    };
    let [Node::Simple(cat)] = body.as_slice() else {
        panic!("{body:?}");
    };
    assert_eq!(
        cat.redirects
            .first()
            .map(|redirect| redirect.target.clone()),
        Some(vec![Part::Quoted("fix: it's (done)\n".into())])
    );
}

#[test]
fn broken_and_hostile_text_is_read_to_its_end() {
    let deep = "(".repeat(50_000);
    let quotes = "\"$(".repeat(20_000);
    let braces = "${a:-".repeat(20_000);
    let ticks = "`".repeat(9_999);
    let cases = "case x in ".repeat(5_000);
    for text in [
        ")",
        "a )",
        "fi",
        "if",
        "if a; then",
        "for",
        "for x in",
        "case",
        "case x in",
        "a |",
        "a &&",
        "<<",
        "a <<EOF",
        "'",
        "\"",
        "`",
        "$(",
        "${",
        "$((",
        "((",
        "[[",
        "{",
        "f() {",
        "a >",
        "\\",
        ";;",
        "&",
        "|",
        "<(",
        "x=(",
        "a\0b",
        "\u{1a}",
        "$'\\x",
        "a() b() c()",
        "select",
        "coproc",
        "! ! !",
        "time",
        "function",
        "}",
        "esac",
        "a;;b",
        "{a>b",
        "<<<",
        ">&",
        "a(b)c",
        "done done",
        &deep,
        &quotes,
        &braces,
        &ticks,
        &cases,
    ] {
        let _ = read(text.as_bytes());
    }
}
