//! What others make of a site or a context once, and keep beside it: a renderer its plan, for example.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// What may be kept.
pub trait Keepsake: Any + Send + Sync {
    /// Bytes of memory that it takes beyond its own size, about.
    fn bytes(&self) -> usize {
        0
    }
}

/// Room for one value of each type, made on the first request. Copies share what was made before.
#[derive(Clone, Default)]
pub struct Made(OnceLock<Arc<Node>>);

struct Node {
    value: Box<dyn Any + Send + Sync>,
    bytes: fn(&dyn Any) -> usize,
    /// Of other types.
    next: Made,
}

impl Made {
    /// The value of a type.
    #[inline]
    pub fn get_or_make<T: Keepsake>(&self, make: impl Fn() -> T) -> &T {
        let mut place = self;
        loop {
            let node = place.0.get_or_init(|| Arc::new(Node::new(make())));
            if let Some(value) = node.value.downcast_ref() {
                return value;
            }
            place = &node.next;
        }
    }

    /// Bytes of memory that all values take, about.
    pub(crate) fn bytes(&self) -> usize {
        let (mut place, mut bytes) = (self, 0);
        while let Some(node) = place.0.get() {
            bytes += (node.bytes)(&*node.value);
            place = &node.next;
        }
        bytes
    }
}

impl Node {
    #[cold]
    fn new<T: Keepsake>(value: T) -> Self {
        let bytes = |value: &dyn Any| value.downcast_ref::<T>().map_or(0, T::bytes);
        Self { value: Box::new(value), bytes, next: Made::default() }
    }
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Made")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Text(String);
    struct Number(u64);

    impl Keepsake for Text {
        fn bytes(&self) -> usize {
            self.0.len()
        }
    }

    impl Keepsake for Number {}

    #[test]
    fn one_value_of_each_type_is_made_once_and_copies_share_it() {
        let made = Made::default();
        assert_eq!(made.get_or_make(|| Number(7)).0, 7);
        assert_eq!(made.get_or_make(|| Text("seven".to_owned())).0, "seven");
        assert_eq!(made.get_or_make(|| Number(8)).0, 7);
        assert_eq!(made.clone().get_or_make(|| Text(String::new())).0, "seven");
        assert_eq!((made.bytes(), Made::default().bytes()), (5, 0));
    }
}
