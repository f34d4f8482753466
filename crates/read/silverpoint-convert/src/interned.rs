//! Something a writer keeps for each site or process, by its number.

/// Items by number. A number's upper 32 bits are that of the input, its lower ones ascend from 0: both are small.
#[derive(Debug)]
pub struct Interned<T> {
    inputs: Vec<Vec<Option<T>>>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self { inputs: Vec::new() }
    }
}

impl<T> Interned<T> {
    /// The item of this number, made when it is asked for first.
    #[inline]
    pub fn get(&mut self, number: usize, make: impl FnOnce() -> T) -> &mut T {
        let (input, at) = (number >> 32, number & 0xFFFF_FFFF);
        if input >= self.inputs.len() {
            self.inputs.resize_with(input + 1, Vec::new);
        }
        let items = &mut self.inputs[input];
        if at >= items.len() {
            items.resize_with(at + 1, || None);
        }
        items[at].get_or_insert_with(make)
    }
}
