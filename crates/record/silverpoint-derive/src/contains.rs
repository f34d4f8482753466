//! Whether a type's fields hold the type itself, as far as its source tells: then it has no signature.

use proc_macro2::Ident;
use syn::{GenericArgument, PathArguments, Type};

/// What is recorded as what it holds, or with it: all type arguments count. (Not `Weak`, `PhantomData` and pointers, which say nothing of it.)
const HOLDERS: [&str; 22] = [
    "Arc",
    "BTreeMap",
    "BTreeSet",
    "BinaryHeap",
    "Box",
    "Cell",
    "Cow",
    "HashMap",
    "HashSet",
    "LazyLock",
    "LinkedList",
    "ManuallyDrop",
    "Mutex",
    "OnceCell",
    "OnceLock",
    "Option",
    "Rc",
    "RefCell",
    "Result",
    "RwLock",
    "Vec",
    "VecDeque",
];

/// Whether `kind` mentions `own`, or `Self`, where its signature is needed.
pub fn contains(kind: &Type, own: &Ident) -> bool {
    match kind {
        Type::Path(path) if path.qself.is_none() => {
            if path.path.is_ident("Self") {
                return true;
            }
            let Some(last) = path.path.segments.last() else { return false };
            if path.path.segments.len() == 1 && path.path.leading_colon.is_none() && last.ident == *own {
                return true;
            }
            let holds = HOLDERS.iter().any(|holder| last.ident == holder);
            match &last.arguments {
                PathArguments::AngleBracketed(arguments) if holds => arguments
                    .args
                    .iter()
                    .any(|argument| matches!(argument, GenericArgument::Type(kind) if contains(kind, own))),
                _ => false,
            }
        }
        Type::Array(array) => contains(&array.elem, own),
        Type::Slice(slice) => contains(&slice.elem, own),
        Type::Reference(reference) => contains(&reference.elem, own),
        Type::Paren(inner) => contains(&inner.elem, own),
        Type::Group(inner) => contains(&inner.elem, own),
        Type::Tuple(tuple) => tuple.elems.iter().any(|kind| contains(kind, own)),
        _ => false,
    }
}
