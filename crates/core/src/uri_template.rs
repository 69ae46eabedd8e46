//! URI templates (RFC 6570, string values only): parse, match, read the variables back, expand.

mod expression;
mod matcher;

use std::collections::BTreeMap;
use std::fmt;

use expression::Expression;

/// Longer templates are invalid.
const MAX_TEMPLATE_BYTES: usize = 2 * 1024;

/// Bounds the cost of a match together with `MAX_URI_BYTES`.
const MAX_EXPRESSIONS: usize = 32;

/// Longer URIs match nothing.
const MAX_URI_BYTES: usize = 8 * 1024;

/// The variables of a template and their decoded values.
pub type TemplateValues = BTreeMap<String, String>;

/// A parsed URI template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriTemplate {
    text: String,
    parts: Vec<TemplatePart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePart {
    /// Never empty.
    Literal(String),
    Expression(Expression),
}

impl UriTemplate {
    pub fn parse(text: &str) -> Result<Self, InvalidTemplate> {
        if text.len() > MAX_TEMPLATE_BYTES {
            return Err(InvalidTemplate("it is longer than 2 KiB"));
        }
        let (mut parts, mut rest, mut expressions) = (Vec::new(), text, 0);
        while let Some((literal, tail)) = rest.split_once('{') {
            let unclosed = InvalidTemplate("a `{` is not closed");
            let (expression, tail) = tail.split_once('}').ok_or(unclosed)?;
            push_literal(&mut parts, literal)?;
            parts.push(TemplatePart::Expression(Expression::parse(expression)?));
            expressions += 1;
            rest = tail;
        }
        push_literal(&mut parts, rest)?;
        if expressions > MAX_EXPRESSIONS {
            return Err(InvalidTemplate("it has more than 32 expressions"));
        }
        let text = text.to_owned();
        let mut template = Self { text, parts };
        template.restrict_expressions();
        Ok(template)
    }

    /// A plain variable holds no `/`, and no `?` or `#` where the template itself has a query or a
    /// fragment. In other templates `?` and `#` are allowed, for clients that do not encode them.
    fn restrict_expressions(&mut self) {
        let has = |mark: char| {
            self.parts.iter().any(|part| match part {
                TemplatePart::Literal(text) => text.contains(mark),
                TemplatePart::Expression(expression) => expression.begins_with(mark),
            })
        };
        let (query, fragment) = (has('?'), has('#'));
        for part in &mut self.parts {
            if let TemplatePart::Expression(expression) = part {
                expression.restrict(query, fragment);
            }
        }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names of the variables, in the order of the template.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts
            .iter()
            .filter_map(|part| match part {
                TemplatePart::Expression(expression) => Some(expression.variables()),
                TemplatePart::Literal(_) => None,
            })
            .flatten()
    }

    /// The number of literal bytes. Of several templates that match a URI, the one with the most
    /// wins.
    pub fn literal_len(&self) -> usize {
        let length = |part: &TemplatePart| match part {
            TemplatePart::Literal(text) => text.len(),
            TemplatePart::Expression(_) => 0,
        };
        self.parts.iter().map(length).sum()
    }

    /// The text before the first expression.
    pub fn literal_prefix(&self) -> &str {
        match self.parts.first() {
            Some(TemplatePart::Literal(text)) => text,
            _ => "",
        }
    }

    /// The number of expressions.
    pub fn expressions(&self) -> usize {
        let is_expression = |part: &&TemplatePart| matches!(part, TemplatePart::Expression(_));
        self.parts.iter().filter(is_expression).count()
    }

    /// Whether the template could have been expanded to this URI. Names in a query are not checked.
    pub fn matches(&self, uri: &str) -> bool {
        uri.len() <= MAX_URI_BYTES && matcher::matches(&self.parts, uri)
    }

    /// The values of the variables in a URI, each decoded once; `None` if the URI does not match.
    /// Where several readings are possible, earlier variables are as short as they can be.
    pub fn capture(&self, uri: &str) -> Option<TemplateValues> {
        if uri.len() > MAX_URI_BYTES {
            return None;
        }
        let mut values = TemplateValues::new();
        for (expression, text) in matcher::capture(&self.parts, uri)? {
            expression.read(text, &mut values)?;
        }
        Some(values)
    }

    /// The URI for these values. Variables of `{a}` and `{+a}` are required, others optional.
    pub fn expand(&self, values: &TemplateValues) -> Result<String, MissingVariable> {
        let mut uri = String::new();
        for part in &self.parts {
            match part {
                TemplatePart::Literal(text) => uri.push_str(text),
                TemplatePart::Expression(expression) => expression.expand(values, &mut uri)?,
            }
        }
        Ok(uri)
    }
}

impl fmt::Display for UriTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn push_literal(parts: &mut Vec<TemplatePart>, text: &str) -> Result<(), InvalidTemplate> {
    if text.contains('}') {
        return Err(InvalidTemplate("a `}` has no `{`"));
    }
    if !text.is_empty() {
        parts.push(TemplatePart::Literal(text.to_owned()));
    }
    Ok(())
}

/// Why a text is not a URI template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InvalidTemplate(&'static str);

impl fmt::Display for InvalidTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid URI template: {}", self.0)
    }
}

impl std::error::Error for InvalidTemplate {}

/// A required variable without a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingVariable(pub String);

impl fmt::Display for MissingVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "missing template variable `{}`", self.0)
    }
}

impl std::error::Error for MissingVariable {}

#[cfg(test)]
mod tests;
