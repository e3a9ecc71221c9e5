"""``dataclass`` as the standard library's, made so that importing a module full of them takes no time. Pure.

The standard decorator compiles up to six functions a class, eight tenths of a millisecond: with a hundred classes that
was a fifth of what one statement from the command line costs. Here a function is compiled when it is first called, and
only those that have to be quick are. Type checkers see the standard decorator; ``dataclasses.replace``, ``fields`` and
``asdict`` see the same fields.
"""

from __future__ import annotations

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
        dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
        found = dataclasses.fields(cls)
        methods = [_later(cls, "__init__", lambda: _init(found, frozen, hasattr(cls, "__post_init__")))]
        if repr:
            methods.append(_repr([field.name for field in found if field.repr]))
        if frozen:
            names = frozenset(field.name for field in found)
            methods += [_refuse(cls, names, "assign to"), _refuse(cls, names, "delete")]
        for method in methods:
            if method.__name__ not in own:
                setattr(cls, method.__name__, method)
        if eq:
            _compare(cls, own, found, frozen=frozen)
        return cls

    def _compare(cls, own, found, *, frozen):
        compared = [field.name for field in found if field.compare]
        hashed = [field.name for field in found if (field.compare if field.hash is None else field.hash)]
        if "__eq__" not in own:
            cls.__eq__ = _later(cls, "__eq__", lambda: _eq(compared))
        if "__hash__" not in own or ("__eq__" in own and cls.__dict__["__hash__"] is None):
            cls.__hash__ = _later(cls, "__hash__", lambda: _hash(hashed)) if frozen else None

    def _later(cls, name, make):
        """Return a method that makes the real one, puts it into its own place, and calls it."""

        def method(self, /, *args, **kwargs):
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

    def _repr(names):
        under_way = set()

        def __repr__(self):
            if id(self) in under_way:
                return "..."
            under_way.add(id(self))
            try:
                shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in names])
            finally:
                under_way.discard(id(self))
            return f"{self.__class__.__qualname__}({shown})"

        return __repr__

    def _refuse(cls, names, what):
        """Return the function by which a frozen value stays as it is; subclasses that are not frozen add their own."""

        def __setattr__(self, name, value):
            if type(self) is cls or name in names:
                raise dataclasses.FrozenInstanceError(f"cannot {what} field {name!r}")
            super(cls, self).__setattr__(name, value)

        def __delattr__(self, name):
            if type(self) is cls or name in names:
                raise dataclasses.FrozenInstanceError(f"cannot {what} field {name!r}")
            super(cls, self).__delattr__(name)

        return __setattr__ if what.startswith("assign") else __delattr__

    def _init(found, frozen, checks):
        names = {"_set": object.__setattr__}
        arguments, by_name, lines = [], [], []
        for field in found:
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
        if checks:
            lines.append("self.__post_init__()")
        signature = ", ".join(["self", *arguments, *(["*", *by_name] if by_name else [])])
        return _compiled(signature, lines or ["pass"], names)

    class _Made:
        def __repr__(self):
            return "<factory>"

    _MADE = _Made()
