//! URIs that name their source: `gateway://{source}/{uri}`; and which source owns a URI.

use super::SourceCatalog;
use crate::SourceId;

/// The scheme of a qualified URI.
const QUALIFIED_SCHEME: &str = "gateway://";

/// The scheme of pages that clients show. Pages keep it, so the source is the first segment.
pub(crate) const UI_SCHEME: &str = "ui://";

/// The URI of a page with its source as the first segment; `None` if the URI is not that of a page.
pub(super) fn prefixed_page(source: &SourceId, native: &str) -> Option<String> {
    let page = native.strip_prefix(UI_SCHEME)?;
    Some(format!("{UI_SCHEME}{source}/{page}"))
}

/// The URI that names the source, whatever the native URI is.
pub(crate) fn qualified_uri(source: &SourceId, native: &str) -> String {
    format!("{QUALIFIED_SCHEME}{source}/{native}")
}

/// The source id and the native URI of a qualified URI. The native part is `None` if the URI ends
/// with the source.
pub(crate) fn split_qualified(uri: &str) -> Option<(&str, Option<&str>)> {
    let rest = uri.strip_prefix(QUALIFIED_SCHEME)?;
    Some(match rest.split_once('/') {
        Some((source, native)) => (source, Some(native)),
        None => (rest, None),
    })
}

/// The source that a qualified URI names, and the URI there.
pub(super) fn named_source<'a>(
    sources: &[SourceCatalog],
    uri: &'a str,
) -> Option<(usize, &'a str)> {
    let (id, native) = split_qualified(uri)?;
    let number = sources.iter().position(|source| source.id.as_str() == id)?;
    Some((number, native?))
}

/// The source that owns a URI, whichever source lists it.
pub(super) fn owner_of(sources: &[SourceCatalog], uri: &str) -> Option<usize> {
    let owns = |owned: &String| is_at_or_below(uri, owned);
    let mut sources = sources.iter();
    sources.position(|source| source.catalog.owned.iter().any(owns))
}

/// Whether a URI is the given one or below it. A prefix that ends with `:` is a whole scheme.
pub(super) fn is_at_or_below(uri: &str, prefix: &str) -> bool {
    // Schemes are case-insensitive; capitals must not bypass the owner.
    let head = uri.get(..prefix.len());
    let rest = uri.get(prefix.len()..).unwrap_or_default();
    head.is_some_and(|head| head.eq_ignore_ascii_case(prefix))
        && (prefix.ends_with(':') || rest.is_empty() || rest.starts_with(['/', '?', '#', '{']))
}
