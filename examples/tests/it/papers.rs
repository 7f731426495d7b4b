//! The README's code is the example's, links lead somewhere, and tests that are named exist.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Files with that ending, without what is built and what is hidden.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_str().unwrap();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            files(&path, ending, found);
        } else if path.is_file() && name.ends_with(ending) {
            found.push(path);
        }
    }
}

fn all(ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(root(), ending, &mut found);
    found
}

/// What stands between two marks.
fn between<'t>(text: &'t str, begin: &str, end: &str) -> &'t str {
    let (_, rest) = text.split_once(begin).expect(begin);
    rest.split_once(end).expect(end).0
}

/// The text without its blocks of code.
fn prose(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

#[test]
fn the_readme_shows_the_quickstart() {
    let example = read("examples/quickstart/main.rs");
    let excerpt = between(&example, "    // README: begin\n", "    // README: end\n");
    let excerpt: Vec<&str> = excerpt
        .lines()
        .map(|line| line.strip_prefix("    ").unwrap_or(line))
        .collect();
    let readme = read("README.md");
    let block: Vec<&str> = between(&readme, "```rust\n", "```\n").lines().collect();
    assert_eq!(block, excerpt, "README.md and examples/quickstart/main.rs");
    assert!(block.len() <= 15, "{} lines", block.len());
}

#[test]
fn every_relative_link_leads_somewhere() {
    let mut links = 0;
    for paper in all(".md") {
        let text = prose(&fs::read_to_string(&paper).unwrap());
        for link in text.split("](").skip(1) {
            let link = link.split_once(')').expect("a link ends").0;
            let path = link.split_once('#').map_or(link, |(path, _)| path);
            if path.is_empty() || path.contains("://") {
                continue;
            }
            let target = paper.parent().unwrap().join(path);
            assert!(target.exists(), "{}: {link}", paper.display());
            links += 1;
        }
    }
    assert!(links > 20, "{links} links");
}

/// Tests are named `module::name` there, where the module is a file or a folder.
#[test]
fn every_test_that_the_architecture_names_exists() {
    let sources: Vec<(PathBuf, String)> = all(".rs")
        .into_iter()
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect();
    let paper = read("ARCHITECTURE.md");
    let (_, table) = paper
        .split_once("## Which test holds what")
        .expect("the table");
    let mut named = 0;
    for code in table.split('`').skip(1).step_by(2) {
        let Some((module, test)) = code.split_once("::") else {
            continue;
        };
        let here = |path: &Path| {
            path.with_extension("")
                .components()
                .any(|part| part.as_os_str() == module)
        };
        let exists = sources.iter().any(|(path, text)| {
            let says = |after| text.contains(&format!("fn {test}{after}"));
            here(path) && (says("(") || says("<"))
        });
        assert!(exists, "{code}");
        named += 1;
    }
    assert!(named > 50, "{named} tests");
}
