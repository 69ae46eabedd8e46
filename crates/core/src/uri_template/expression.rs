//! One expression of a template: `{a}`, `{+a}`, `{?a,b}` and so on.

use super::{InvalidTemplate, MissingVariable, TemplateValues};
use crate::percent::{percent_decode_utf8, percent_encode, percent_encode_reserved};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expression {
    operator: Option<char>,
    variables: Vec<Variable>,
    /// Bytes that its value cannot hold, unencoded.
    excluded: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Variable {
    name: String,
    /// `{a:3}`: only the first characters are used.
    max_chars: Option<usize>,
    /// `{a*}`.
    explode: bool,
}

impl Variable {
    fn parse(text: &str) -> Self {
        let (text, explode) = match text.strip_suffix('*') {
            Some(text) => (text, true),
            None => (text, false),
        };
        let (name, max_chars) = match text.split_once(':') {
            Some((name, length)) => (name, length.parse().ok()),
            None => (text, None),
        };
        Self {
            name: name.to_owned(),
            max_chars,
            explode,
        }
    }
}

impl Expression {
    pub(super) fn parse(text: &str) -> Result<Self, InvalidTemplate> {
        let operator = text.chars().next().filter(|c| "+#./;?&".contains(*c));
        let names = &text[operator.map_or(0, char::len_utf8)..];
        if text.is_empty() {
            return Err(InvalidTemplate("`{}` has no variable"));
        }
        Ok(Self {
            operator,
            variables: names.split(',').map(Variable::parse).collect(),
            excluded: Vec::new(),
        })
    }

    /// Sets which separators the value cannot hold.
    pub(super) fn restrict(&mut self, query: bool, fragment: bool) {
        let several = self.variables.len() > 1 || self.variables.iter().any(|one| one.explode);
        let is_plain = match self.operator {
            Some('.') => true,
            // By the RFC `{a*}` joins with commas; servers use it for a path.
            None => !self.variables.iter().any(|one| one.explode),
            Some('/') => !several,
            Some(_) => false,
        };
        if is_plain {
            let separators = [(true, b'/'), (query, b'?'), (fragment, b'#')];
            let excluded = separators.into_iter().filter(|(applies, _)| *applies);
            self.excluded = excluded.map(|(_, separator)| separator).collect();
        }
    }

    pub(super) fn begins_with(&self, mark: char) -> bool {
        self.operator == Some(mark)
    }

    pub(super) fn variables(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|variable| variable.name.as_str())
    }

    /// The byte that a non-empty expansion begins with.
    pub(super) fn prefix(&self) -> Option<u8> {
        match self.operator {
            None | Some('+') => None,
            Some(operator) => u8::try_from(operator).ok(),
        }
    }

    /// Whether the expansion can be empty.
    pub(super) fn is_optional(&self) -> bool {
        self.prefix().is_some()
    }

    /// Whether something must follow the prefix.
    pub(super) fn needs_value(&self) -> bool {
        !self.is_named()
    }

    pub(super) fn excluded(&self) -> &[u8] {
        &self.excluded
    }

    /// Whether the expansion has `name=value` pairs.
    fn is_named(&self) -> bool {
        matches!(self.operator, Some(';' | '?' | '&'))
    }

    fn separator(&self) -> char {
        match self.operator {
            None | Some('+' | '#') => ',',
            Some('?') => '&',
            Some(operator) => operator,
        }
    }

    /// Reads the variables from the text that the expression matched.
    pub(super) fn read(&self, text: &str, values: &mut TemplateValues) -> Option<()> {
        let text = match self.prefix() {
            Some(_) => text.get(1..).unwrap_or_default(),
            None => text,
        };
        let mut insert = |name: &str, value: &str| {
            let value = percent_decode_utf8(value)?.into_owned();
            values.insert(name.to_owned(), value);
            Some(())
        };
        if self.is_named() {
            for pair in text.split(self.separator()).filter(|pair| !pair.is_empty()) {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                insert(self.variables().find(|known| *known == name)?, value)?;
            }
            return Some(());
        }
        let pieces = text.splitn(self.variables.len(), self.separator());
        for (name, value) in self.variables().zip(pieces) {
            if !text.is_empty() {
                insert(name, value)?;
            }
        }
        Some(())
    }

    pub(super) fn expand(
        &self,
        values: &TemplateValues,
        uri: &mut String,
    ) -> Result<(), MissingVariable> {
        let mut is_first = true;
        for variable in &self.variables {
            let Some(value) = values.get(&variable.name) else {
                if self.is_optional() {
                    continue;
                }
                return Err(MissingVariable(variable.name.clone()));
            };
            match (is_first, self.prefix()) {
                (true, Some(prefix)) => uri.push(char::from(prefix)),
                (true, None) => {}
                (false, _) => uri.push(self.separator()),
            }
            is_first = false;
            if self.is_named() {
                uri.push_str(&variable.name);
                uri.push('=');
            }
            let end = variable
                .max_chars
                .and_then(|max| value.char_indices().nth(max));
            let value = &value[..end.map_or(value.len(), |(end, _)| end)];
            uri.push_str(&match self.operator {
                Some('+' | '#') => percent_encode_reserved(value),
                _ => percent_encode(value),
            });
        }
        Ok(())
    }
}
