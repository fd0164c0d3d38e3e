//! A deserializer around another one, which knows where it is and takes only objects for structs.
//!
//! Values go straight through it, so that the inner deserializer's errors keep their line and column.

use std::cell::RefCell;
use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};

use super::place::{Place, Trail};

/// Any of serde's parts that reads on: a deserializer, a visitor, an access to what is inside, a seed.
pub(super) struct Tracked<'a, T> {
    inner: T,
    place: Place<'a>,
    trail: &'a Trail,
}

impl<'a, T> Tracked<'a, T> {
    /// The whole of the arguments.
    pub(super) fn root(inner: T, trail: &'a Trail) -> Self {
        Self { inner, place: Place::Root, trail }
    }

    /// Another part at the same place.
    fn with<U>(&self, inner: U) -> Tracked<'a, U> {
        Tracked { inner, place: self.place, trail: self.trail }
    }

    /// Where a member's name is read: what it is.
    fn hear(&self, name: impl fmt::Display) {
        if let Place::Key { heard, .. } = self.place {
            *heard.borrow_mut() = name.to_string();
        }
    }
}

macro_rules! forward_deserializer {
    ($($method:ident($($argument:ident: $type:ty),*);)*) => {$(
        fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            let visitor = self.with(visitor);
            self.inner.$method($($argument,)* visitor)
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Tracked<'_, D> {
    type Error = D::Error;

    forward_deserializer! {
        deserialize_any();
        deserialize_bool();
        deserialize_i8();
        deserialize_i16();
        deserialize_i32();
        deserialize_i64();
        deserialize_i128();
        deserialize_u8();
        deserialize_u16();
        deserialize_u32();
        deserialize_u64();
        deserialize_u128();
        deserialize_f32();
        deserialize_f64();
        deserialize_char();
        deserialize_str();
        deserialize_string();
        deserialize_bytes();
        deserialize_byte_buf();
        deserialize_option();
        deserialize_unit();
        deserialize_unit_struct(name: &'static str);
        deserialize_newtype_struct(name: &'static str);
        deserialize_seq();
        deserialize_tuple(len: usize);
        deserialize_tuple_struct(name: &'static str, len: usize);
        deserialize_map();
        deserialize_identifier();
        deserialize_ignored_any();
    }

    /// A struct is read as a map: the form of a list, which serde_json offers besides, does not come up.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = self.with(ObjectOnly(visitor));
        self.inner.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let trail = self.trail;
        let visitor = self.with(visitor);
        trail.note_enum(variants, self.inner.deserialize_enum(name, variants, visitor))
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

/// The visitor of a struct, which says what it wants in the model's words.
struct ObjectOnly<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for ObjectOnly<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(map)
    }
}

macro_rules! forward_visitor {
    ($($method:ident($type:ty);)*) => {$(
        fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.hear(&value);
            self.inner.$method(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Tracked<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    forward_visitor! {
        visit_bool(bool);
        visit_i8(i8);
        visit_i16(i16);
        visit_i32(i32);
        visit_i64(i64);
        visit_i128(i128);
        visit_u8(u8);
        visit_u16(u16);
        visit_u32(u32);
        visit_u64(u64);
        visit_u128(u128);
        visit_f32(f32);
        visit_f64(f64);
        visit_char(char);
        visit_str(&str);
        visit_borrowed_str(&'de str);
        visit_string(String);
    }

    fn visit_bytes<E: Error>(self, value: &[u8]) -> Result<V::Value, E> {
        self.inner.visit_bytes(value)
    }

    fn visit_borrowed_bytes<E: Error>(self, value: &'de [u8]) -> Result<V::Value, E> {
        self.inner.visit_borrowed_bytes(value)
    }

    fn visit_byte_buf<E: Error>(self, value: Vec<u8>) -> Result<V::Value, E> {
        self.inner.visit_byte_buf(value)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        let deserializer = self.with(deserializer);
        self.inner.visit_some(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        let deserializer = self.with(deserializer);
        self.inner.visit_newtype_struct(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<V::Value, A::Error> {
        let seq = Elements { seq: self.with(seq), index: 0 };
        self.inner.visit_seq(seq)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        let map = Members { map: self.with(map), key: String::new() };
        self.inner.visit_map(map)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        let access = self.with(access);
        self.inner.visit_enum(access)
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Tracked<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        let deserializer = self.with(deserializer);
        let result = self.inner.deserialize(deserializer);
        self.trail.note(self.place, result)
    }
}

struct Elements<'a, A> {
    seq: Tracked<'a, A>,
    index: usize,
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Elements<'_, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        let parent = self.seq.place;
        let place = Place::Element { parent: &parent, index: self.index };
        self.index += 1;
        let seed = Tracked { inner: seed, place, trail: self.seq.trail };
        self.seq.inner.next_element_seed(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        self.seq.inner.size_hint()
    }
}

struct Members<'a, A> {
    map: Tracked<'a, A>,
    /// The member that was named last.
    key: String,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Members<'_, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        let parent = self.map.place;
        let heard = RefCell::new(String::new());
        let place = Place::Key { parent: &parent, heard: &heard };
        let key = self.map.inner.next_key_seed(Tracked { inner: seed, place, trail: self.map.trail });
        self.key = heard.into_inner();
        key
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let parent = self.map.place;
        let place = Place::Member { parent: &parent, name: &self.key };
        let seed = Tracked { inner: seed, place, trail: self.map.trail };
        self.map.inner.next_value_seed(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        self.map.inner.size_hint()
    }
}

impl<'de, 'a, A: EnumAccess<'de>> EnumAccess<'de> for Tracked<'a, A> {
    type Error = A::Error;
    type Variant = Tracked<'a, A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), A::Error> {
        let Self { inner, place, trail } = self;
        let (value, variant) = inner.variant_seed(seed)?;
        Ok((value, Tracked { inner: variant, place, trail }))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Tracked<'_, A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.inner.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        let seed = self.with(seed);
        self.inner.newtype_variant_seed(seed)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        let visitor = self.with(visitor);
        self.inner.tuple_variant(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        let visitor = self.with(ObjectOnly(visitor));
        self.inner.struct_variant(fields, visitor)
    }
}
