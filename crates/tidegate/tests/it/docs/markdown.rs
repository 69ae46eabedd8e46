//! The fenced blocks of a Markdown page.

/// One fenced block.
#[derive(Debug)]
pub(super) struct Block {
    /// The line of the opening fence.
    pub(super) line: usize,
    pub(super) language: String,
    /// What follows the language on the opening fence: a file name, or `stream`.
    pub(super) argument: Option<String>,
    pub(super) text: String,
}

pub(super) fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Option<(String, Block)> = None;
    for (index, line) in page.lines().enumerate() {
        let trimmed = line.trim_start();
        match &mut open {
            None if trimmed.starts_with("```") => {
                let fence: String = trimmed.chars().take_while(|c| *c == '`').collect();
                let mut info = trimmed[fence.len()..].split_whitespace();
                let language = info.next().unwrap_or_default().to_owned();
                assert!(
                    !language.is_empty(),
                    "line {}: name the language of the block",
                    index + 1
                );
                let block = Block {
                    line: index + 1,
                    language,
                    argument: info.next().map(ToOwned::to_owned),
                    text: String::new(),
                };
                open = Some((fence, block));
            }
            None => {}
            Some((fence, _)) if trimmed == fence => {
                blocks.extend(open.take().map(|(_, block)| block));
            }
            Some((_, block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}
