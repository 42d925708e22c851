"""What is remembered of Triton's interpreter does not change what it does."""

import unittest

from kerf.testing import needs


@needs("torch")
@needs("triton")
class RememberBuiltinsTest(unittest.TestCase):
    def setUp(self):
        from kerf import triton_warmup
        from triton.runtime import interpreter

        self.interpreter = interpreter
        self.language = interpreter.tl
        self.original = interpreter._patch_builtin
        self.addCleanup(setattr, interpreter, "_patch_builtin", self.original)
        triton_warmup.remember_builtins()

    def replaced(self, patch, owner, inside=lambda: None):
        """The names that `patch` replaces in `owner`; it is as before afterwards."""
        scope = self.interpreter._LangPatchScope()
        try:
            patch(owner, self.interpreter.interpreter_builder, scope)
            names = sorted(name for _, name, _ in scope._changes)
            inside()
        finally:
            scope.restore()
        return names

    def test_replaces_what_the_interpreter_itself_would(self):
        language = self.language
        owners = [language, language.core, language.tensor, language.math, language.core.tensor_descriptor_base]
        for owner in [*owners, language.standard]:
            with self.subTest(owner=owner):
                expected = self.replaced(self.original, owner)
                self.assertEqual(self.replaced(self.interpreter._patch_builtin, owner), expected)
        self.assertIn("load", self.replaced(self.interpreter._patch_builtin, language))

    def test_replaces_nothing_twice(self):
        def again():
            self.assertEqual(self.replaced(self.interpreter._patch_builtin, self.language), [])

        self.replaced(self.interpreter._patch_builtin, self.language, again)

    def test_sees_a_builtin_that_was_not_there_before(self):
        self.language.kerf_added = self.language.core.builtin(lambda x, _semantic=None: x)
        self.addCleanup(delattr, self.language, "kerf_added")
        self.assertIn("kerf_added", self.replaced(self.interpreter._patch_builtin, self.language))


if __name__ == "__main__":
    unittest.main()
