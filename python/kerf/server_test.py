"""The resident process, over a socket and over standard input."""

import json
import os
import socket
import subprocess
import sys
import unittest

from kerf.testing import TaskTest, needs

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference_server.py")
TASK = """
class Model:
    def __init__(self):
        self.w = np.random.rand(8).astype(np.float32)
    def __call__(self, x, k):
        print("noise")
        return x * self.w * k
def get_inputs():
    return [np.random.randn(4, 8).astype(np.float32), 3]
"""


@needs("numpy")
class ServerTest(TaskTest):
    def setUp(self):
        super().setUp()
        self.document = self.manifest(TASK, seeds=[4, 5])
        self.path = os.path.join(self.folder, "op_numpy.py")

    def load(self):
        return {"op": "load", "task": self.path, "framework": "numpy", "seed": 0, "threads": 1}

    def run_request(self, case, **more):
        return dict({"op": "run", "case": case, "input_file": os.path.join(self.out, case["input_file"])}, **more)

    def ask(self, *requests):
        """All answers of a server on standard input and output."""
        text = "".join(request if isinstance(request, str) else json.dumps(request) + "\n" for request in requests)
        done = subprocess.run([sys.executable, SERVER], input=text, text=True, capture_output=True, timeout=60,
                              check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_runs_a_case_on_its_own_bytes(self):
        import numpy
        case = self.document["cases"][1]
        written = os.path.join(self.folder, "outputs")
        loaded, ran = self.ask(self.load(), self.run_request(case, output_file=written), {"op": "exit"})
        self.assertEqual(loaded["inputs"], ["input0", "input1"])
        self.assertTrue(ran["ok"], ran)
        self.assertGreater(ran["ns"], 0)
        got = numpy.fromfile(written, dtype="float32").reshape(4, 8)
        self.assertTrue(numpy.array_equal(got, self.tensor(case, case["outputs"][0])))

    def test_answers_bad_requests_and_goes_on(self):
        case = self.document["cases"][0]
        answers = self.ask("no json\n", "[1]\n", {"op": "dance"}, self.run_request(case), self.load(),
                           self.run_request({"inputs": [], "input_file": case["input_file"]}), self.run_request(case))
        self.assertEqual([answer["ok"] for answer in answers], [False, False, False, False, True, False, True])
        self.assertEqual(answers[3]["message"], "no task is loaded")

    def test_tells_the_line_of_a_task_that_fails(self):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write("raise KeyError('late')\n")
        answer, = self.ask(self.load())
        self.assertEqual((answer["ok"], answer["stage"]), (False, "load"))
        self.assertIn("late", answer["message"])
        self.assertGreater(answer["line"], 5)

    @unittest.skipUnless(hasattr(socket, "send_fds"), "this Python cannot pass descriptors")
    def test_takes_a_descriptor_with_a_line(self):
        case = self.document["cases"][0]
        ours, theirs = socket.socketpair()
        with subprocess.Popen([sys.executable, SERVER, "--fd", str(theirs.fileno())], pass_fds=[theirs.fileno()],
                              stdout=subprocess.DEVNULL) as process, ours:
            theirs.close()
            lines = ours.makefile("r")
            ours.sendall(json.dumps(self.load()).encode() + b"\n")
            self.assertTrue(json.loads(lines.readline())["ok"])
            request = {"op": "run", "case": case, "input_fd": -1}
            with open(os.path.join(self.out, case["input_file"]), "rb") as file:
                socket.send_fds(ours, [json.dumps(request).encode() + b"\n"], [file.fileno()])
            answer = json.loads(lines.readline())
            self.assertTrue(answer["ok"], answer)
            ours.sendall(b'{"op": "exit"}\n')
            self.assertEqual(process.wait(timeout=20), 0)


if __name__ == "__main__":
    unittest.main()
