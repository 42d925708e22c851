import random
import unittest

from kerf import hidden_shapes
from kerf.testing import needs


class SymbolsTest(unittest.TestCase):
    def test_joins_dimensions_that_always_agree(self):
        shapes = [[[1, 64], [64], [8]], [[5, 256], [256], [8]]]
        self.assertEqual(hidden_shapes.symbols_of(shapes), {(1, 5): [(0, 0)], (64, 256): [(0, 1), (1, 0)]})

    def test_says_why_there_is_none(self):
        for shapes, why in (([[[4]]], "one variant"), ([[[4]], [[4]]], "same shapes"),
                            ([[[4]], [[4, 4]]], "number of")):
            with self.assertRaisesRegex(hidden_shapes.NoHiddenShape, why):
                hidden_shapes.symbols_of(shapes)

    def test_chooses_odd_new_sizes_in_between(self):
        rng = random.Random(0)
        for sizes in ((1, 64), (3, 9), (2, 100000), (64, 256, 1000)):
            for _ in range(50):
                size = hidden_shapes.choose_size(sizes, rng)
                self.assertEqual(size % 2, 1)
                self.assertTrue(min(sizes) <= size <= max(sizes))
                self.assertNotIn(size, sizes)

    def test_takes_a_seen_size_where_there_is_no_other(self):
        self.assertIn(hidden_shapes.choose_size((4, 5), random.Random(0)), (4, 5))

    def test_finds_the_nearest_variant(self):
        symbols = hidden_shapes.symbols_of([[[1]], [[100]], [[1000]]])
        sizes = next(iter(symbols))
        self.assertEqual(hidden_shapes.nearest(symbols, {sizes: 150}, 3), 1)
        self.assertEqual(hidden_shapes.nearest(symbols, {sizes: 900}, 3), 2)


@needs("numpy")
class DrawTest(unittest.TestCase):
    def test_draws_inputs_like_the_nearest(self):
        import numpy
        from kerf import frameworks, values
        framework = frameworks.get("numpy")

        def make(rows):
            return values.Call([numpy.random.rand(rows, 7), numpy.random.randint(3, 6, rows),
                                numpy.random.rand(rows) < 2, rows, 0.5], {})
        call, _ = hidden_shapes.draw(framework, [make(4), make(90)], seed=1)
        floats, ints, flags, rows, scale = call.args
        self.assertEqual(floats.shape, (rows, 7))
        self.assertTrue(0 <= floats.min() and floats.max() <= 1)
        self.assertEqual(ints.shape, (rows,))
        self.assertTrue(set(ints.tolist()) <= {3, 4, 5})
        self.assertTrue(flags.all())
        self.assertEqual(scale, 0.5)


if __name__ == "__main__":
    unittest.main()
