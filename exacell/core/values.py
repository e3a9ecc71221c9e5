"""Data classes as in the standard library (``dataclass``, ``field``, ``replace``) that take no time to import. Pure.

The standard decorator compiles up to six functions a class, eight tenths of a millisecond: with a hundred classes that
was a fifth of what one statement from the command line costs. Here a class's fields are examined when its first value is created,
and a function is compiled after it has been called a few times. Type checkers see the standard decorator;
``dataclasses.replace``, ``fields`` and ``asdict`` see the same fields.
"""

from __future__ import annotations

from dataclasses import field as field, replace as replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses

    def dataclass(cls=None, /, *, frozen=False, kw_only=False, eq=True, repr=True, slots=False, order=False):
        """Return ``cls`` as a data class; ``slots`` and ``order`` are left to the standard decorator."""
        if cls is None:
            return lambda cls: dataclass(
                cls, frozen=frozen, kw_only=kw_only, eq=eq, repr=repr, slots=slots, order=order
            )
        if slots or order:
            made = dataclasses.dataclass(frozen=frozen, kw_only=kw_only, eq=eq, repr=repr, slots=slots, order=order)
            return made(cls)
        own = set(cls.__dict__)
        shape = _Shape(cls, kw_only=kw_only)
        cls.__dataclass_fields__, cls.__dataclass_params__ = _Asked(shape.fields), _Asked(shape.params)
        if "__match_args__" not in own:
            cls.__match_args__ = _Asked(shape.match_args)
        slow, quick = (lambda *call: _fill(shape, frozen, *call)), (lambda: _init(shape, frozen))
        methods = [_later(cls, "__init__", slow, quick)]
        if repr:
            methods.append(_repr(shape))
        if frozen:
            methods += [_refuse(cls, shape, "assign to"), _refuse(cls, shape, "delete")]
        for method in methods:
            if method.__name__ not in own:
                setattr(cls, method.__name__, method)
        if eq:
            _compare(cls, own, shape, frozen=frozen)
        return cls

    class _Asked:
        """An attribute of a class that is computed when it is read."""

        def __init__(self, ask):
            self._ask = ask

        def __get__(self, value, owner):
            return self._ask()

    class _Shape:
        """A class's fields, examined on first use; unusual cases are left to the standard decorator."""

        def __init__(self, cls, *, kw_only):
            self.cls, self.kw_only = cls, kw_only
            self._standard = self._listed = None
            self._notes = dict(cls.__annotations__)
            self._given = {}
            for name in self._notes:
                value = getattr(cls, name, dataclasses.MISSING)
                if value is dataclasses.MISSING:
                    continue
                self._given[name] = value
                if isinstance(value, dataclasses.Field):
                    if value.default is dataclasses.MISSING:
                        delattr(cls, name)
                    else:
                        setattr(cls, name, value.default)
            cls.__shape__ = self

        def fields(self):
            """Return the fields as the standard decorator stores them: every field by name, including class variables."""
            if self._standard is None:
                found = {}
                for base in self.cls.__mro__[-1:0:-1]:
                    found.update(getattr(base, "__dataclass_fields__", {}))
                found.update(self._stand_in().__dataclass_fields__)
                self._standard = found
            return self._standard

        def params(self):
            return self._stand_in().__dataclass_params__

        def match_args(self):
            return tuple(field.name for field in self.listed() if field.init and not field.kw_only)

        def listed(self):
            """Return the fields of a value, in order."""
            if self._listed is None:
                quick = self._quick()
                self._listed = dataclasses.fields(self.cls) if quick is None else tuple(quick.values())
            return self._listed

        def _stand_in(self):
            names = {
                "__module__": self.cls.__module__,
                "__doc__": "Stands in.",
                "__annotations__": self._notes,
                **self._given,
            }
            stand_in = type(self.cls.__name__, (), names)
            return dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=self.kw_only)(stand_in)

        def _quick(self):
            """Return the fields by name if each is an annotation with or without a default; otherwise None."""
            found = {}
            for base in self.cls.__mro__[-1:0:-1]:
                if "__dataclass_fields__" in base.__dict__:
                    shape = base.__dict__.get("__shape__")
                    inherited = None if shape is None else shape._quick()
                    if inherited is None:
                        return None
                    found.update(inherited)
            for name, note in self._notes.items():
                if not isinstance(note, str) or any(word in note for word in ("ClassVar", "InitVar", "KW_ONLY")):
                    return None
                field = self._given.get(name, dataclasses.MISSING)
                if not isinstance(field, dataclasses.Field):
                    if field.__class__.__hash__ is None:
                        return None  # The standard decorator then raises its error about the default.
                    field = dataclasses.field(default=field)
                field.name = name
                if field.kw_only is dataclasses.MISSING:
                    field.kw_only = self.kw_only
                found[name] = field
            return found

    def _fill(shape, frozen, self, args, kwargs):
        """Do the work of ``__init__``; return _CANNOT if ``__init__`` would raise an error."""
        given, used = kwargs, len(kwargs)
        if args:
            places = shape.match_args()
            if len(args) > len(places) or any(name in kwargs for name in places[: len(args)]):
                return _CANNOT
            given = {**dict(zip(places, args, strict=False)), **kwargs}
            used = len(given)
        store = object.__setattr__ if frozen else setattr
        for field in shape.listed():
            name = field.name
            if field.init and name in given:
                value, used = given[name], used - 1
            elif field.default_factory is not dataclasses.MISSING:
                value = field.default_factory()
            elif not field.init:
                continue
            elif field.default is not dataclasses.MISSING:
                value = field.default
            else:
                return _CANNOT
            store(self, name, value)
        if used:
            return _CANNOT
        if hasattr(shape.cls, "__post_init__"):
            self.__post_init__()
        return None

    def _compare(cls, own, shape, *, frozen):
        def compared():
            return [field.name for field in shape.listed() if field.compare]

        def hashed():
            return [field.name for field in shape.listed() if (field.compare if field.hash is None else field.hash)]

        def same(self, args, kwargs):
            if len(args) != 1 or kwargs or args[0].__class__ is not self.__class__:
                return _CANNOT
            names = compared()
            return tuple([getattr(self, name) for name in names]) == tuple([getattr(args[0], name) for name in names])

        def number(self, args, kwargs):
            return _CANNOT if args or kwargs else hash(tuple([getattr(self, name) for name in hashed()]))

        if "__eq__" not in own:
            cls.__eq__ = _later(cls, "__eq__", same, lambda: _eq(compared()))
        if "__hash__" not in own or ("__eq__" in own and cls.__dict__["__hash__"] is None):
            cls.__hash__ = _later(cls, "__hash__", number, lambda: _hash(hashed())) if frozen else None

    _SLOW_CALLS = 16
    """As many calls as take as long as compiling the quick way."""
    _CANNOT = object()

    def _later(cls, name, slow, make):
        """Return a method that calls ``slow`` a few times, then compiles the real method and replaces itself by it."""
        calls = 0

        def method(self, /, *args, **kwargs):
            nonlocal calls
            calls += 1
            if calls <= _SLOW_CALLS:
                answer = slow(self, args, kwargs)
                if answer is not _CANNOT:
                    return answer
            made = make()
            made.__name__, made.__qualname__, made.__module__ = name, method.__qualname__, cls.__module__
            if cls.__dict__.get(name) is method:
                setattr(cls, name, made)
            return made(self, *args, **kwargs)

        method.__name__, method.__qualname__, method.__module__ = name, f"{cls.__qualname__}.{name}", cls.__module__
        return method

    def _compiled(head, lines, names):
        found = {}
        exec(f"def method({head}):\n    " + "\n    ".join(lines), names, found)
        return found["method"]

    def _tuple(of, names):
        return "(" + "".join(f"{of}.{name}," for name in names) + ")"

    def _eq(names):
        same = f"{_tuple('self', names)} == {_tuple('other', names)}"
        return _compiled("self, other", [f"return {same} if other.__class__ is self.__class__ else NotImplemented"], {})

    def _hash(names):
        return _compiled("self", [f"return hash({_tuple('self', names)})"], {})

    def _repr(shape):
        under_way = set()

        def __repr__(self):
            if id(self) in under_way:
                return "..."
            under_way.add(id(self))
            try:
                names = [field.name for field in shape.listed() if field.repr]
                shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in names])
            finally:
                under_way.discard(id(self))
            return f"{self.__class__.__qualname__}({shown})"

        return __repr__

    def _refuse(cls, shape, what):
        """Return the methods that keep a frozen value unchanged; attributes that a subclass adds can be set unless it is
        frozen, too.
        """

        def within(name):
            return any(field.name == name for field in shape.listed())

        def __setattr__(self, name, value):
            if type(self) is cls or within(name):
                raise dataclasses.FrozenInstanceError(f"cannot {what} field {name!r}")
            super(cls, self).__setattr__(name, value)

        def __delattr__(self, name):
            if type(self) is cls or within(name):
                raise dataclasses.FrozenInstanceError(f"cannot {what} field {name!r}")
            super(cls, self).__delattr__(name)

        return __setattr__ if what.startswith("assign") else __delattr__

    def _init(shape, frozen):
        names = {"_set": object.__setattr__}
        arguments, by_name, lines = [], [], []
        for field in shape.listed():
            name, value = field.name, field.name
            made = field.default_factory is not dataclasses.MISSING
            if made:
                names[f"_make_{name}"] = field.default_factory
            if field.init:
                text = name
                if made:
                    names["_MADE"] = _MADE
                    text, value = f"{name}=_MADE", f"_make_{name}() if {name} is _MADE else {name}"
                elif field.default is not dataclasses.MISSING:
                    names[f"_default_{name}"] = field.default
                    text = f"{name}=_default_{name}"
                (by_name if field.kw_only else arguments).append(text)
            elif made:
                value = f"_make_{name}()"
            else:
                continue  # its default is the class's attribute
            lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
        if hasattr(shape.cls, "__post_init__"):
            lines.append("self.__post_init__()")
        signature = ", ".join(["self", *arguments, *(["*", *by_name] if by_name else [])])
        return _compiled(signature, lines or ["pass"], names)

    class _Made:
        def __repr__(self):
            return "<factory>"

    _MADE = _Made()
