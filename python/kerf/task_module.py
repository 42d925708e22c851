"""Loads a task file and tells what went wrong in it, with the line of the task."""

import contextlib
import hashlib
import inspect
import traceback
import types
import sys

from kerf import values


class TaskError(Exception):
    """The task cannot be used. `stage` is one of import, load, init, inputs, run, write."""

    def __init__(self, stage, message, line=None, trace=""):
        super().__init__(message)
        self.stage = stage
        self.message = message
        self.line = line
        self.trace = trace


@contextlib.contextmanager
def stage(name, path=""):
    """Turns whatever is raised inside, SystemExit included, into a TaskError of this stage."""
    try:
        yield
    except TaskError:
        raise
    except BaseException as error:  # a task may raise anything, and exit as well
        raise TaskError(name, describe(error), line_in(path, error), traceback.format_exc()) from error


def describe(error):
    if isinstance(error, SystemExit):
        return f"the task called sys.exit({error.code!r})"
    if isinstance(error, MemoryError) and not str(error):
        return "out of memory"
    text = str(error).strip()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def line_in(path, error):
    """The line of the file `path` at which the error arose, None when it did not pass through it."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno
    line = getattr(error, "kerf_line", None)  # known to the framework, where operations fail later than they are called
    if line:
        return line
    for frame, number in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == path:
            line = number
    return line


class Task:
    """A loaded task file: the module, and how its parts are called."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            text = file.read()
        self.sha256 = hashlib.sha256(text).hexdigest()
        self.module = types.ModuleType("kerf_task")
        self.module.__file__ = path
        # Some libraries look classes up by their module's name (pickle, dataclasses, torch.jit).
        sys.modules[self.module.__name__] = self.module
        with stage("load", path):
            exec(self._compile(text), self.module.__dict__)
        self._check()

    def _compile(self, text):
        try:
            return compile(text, self.path, "exec")
        except SyntaxError as error:
            raise TaskError("load", f"Syntax error in task_desc: {error.msg}", error.lineno) from error

    def _check(self):
        missing = [] if isinstance(getattr(self.module, "Model", None), type) else ["class Model"]
        if not self.dynamic and not callable(getattr(self.module, "get_inputs", None)):
            missing.append("function get_inputs")
        if not callable(getattr(self.module, "get_init_inputs", None)):
            missing.append("function get_init_inputs")
        if missing:
            raise TaskError("load", "Missing required components in task_desc: " + ", ".join(missing))

    @property
    def dynamic(self):
        return callable(getattr(self.module, "get_inputs_dyn_list", None))

    def model(self, framework, seed):
        """A new model for the seed, and the Call that made it."""
        framework.seed(seed)
        with stage("init", self.path):
            init = init_call(self.module.Model, self.module.get_init_inputs())
            return framework.prepare(self.module.Model(*init.args, **init.kwargs)), init

    def draw(self, framework, seed):
        """The inputs for the seed, one Call for each variant."""
        framework.seed(seed)
        with stage("inputs", self.path):
            if not self.dynamic:
                return [values.Call.of(framework, self.module.get_inputs())]
            calls = [values.Call.of(framework, inputs) for inputs in self.module.get_inputs_dyn_list()]
        if not calls:
            raise TaskError("inputs", "get_inputs_dyn_list() returned no variant")
        return calls

    def run(self, framework, model, call):
        with stage("run", self.path):
            return framework.call(model, call)


def init_call(model_class, init):
    """What get_init_inputs() returned, as a Call. A dictionary is keyword arguments; so is the second of
    [arguments, keyword arguments], a form some collections use, when its keys are the constructor's names."""
    if init is None:
        return values.Call((), {})
    if isinstance(init, dict):
        return values.Call((), init)
    if not isinstance(init, (list, tuple)):
        return values.Call((init,), {})
    if len(init) == 2 and isinstance(init[0], (list, tuple)) and isinstance(init[1], dict):
        names = inspect.signature(model_class.__init__).parameters
        if all(isinstance(key, str) and key in names for key in init[1]) and (init[0] or init[1]):
            return values.Call(tuple(init[0]), init[1])
    return values.Call(tuple(init), {})
