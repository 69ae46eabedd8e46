//! Edits the items of a list inside a result.

use serde_json::value::RawValue;
use tidegate_core::Object;

/// Edits each object of the list in `member`, unless `is_affected` rules out the whole list.
pub(super) fn edit_items(
    result: &mut Object<'_>,
    member: &'static str,
    is_affected: impl Fn(&str) -> bool,
    edit: impl Fn(&mut Object<'_>),
) {
    let Some(list) = result.get(member).filter(|list| is_affected(list)) else {
        return;
    };
    let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(list) else {
        return;
    };
    let edited: Vec<_> = items
        .into_iter()
        .map(|item| match Object::parse(item.get()) {
            Ok(mut object) => {
                edit(&mut object);
                object.write().as_str().to_owned()
            }
            Err(_) => item.get().to_owned(),
        })
        .collect();
    let edited = format!("[{}]", edited.join(","));
    result.set(member, edited);
}
