"""The Python kernel of a session: cells with state between them, told what to do by its supervisor.

Descriptor 5 carries lines of JSON both ways. A thread reads them, so that an interrupt is heard while a cell runs; cells
run in the main thread, where signals arrive. What cells print goes to the usual descriptors, and is none of this file's.

K1  A name belongs to the cell that last bound it; the code of each cell is kept, so that what is lost can be made again.
K2  A checkpoint holds the values that pickle, in one graph, and definitions and imports as their source. What it cannot
    hold is named with the reason.
K3  Before its whole process is frozen it lets go of all that leads outside; when it goes on, here or in another sandbox, it
    looks for its supervisor at the door.
"""

import ast
import asyncio
import builtins
import importlib
import inspect
import json
import linecache
import os
import pickle
import queue
import signal
import socket
import sys
import threading
import time
import traceback
import types

HERE = os.getcwd()
PLOTS = os.path.join(HERE, "plots")
CONTROL = os.fdopen(5, "r+b", buffering=0)
DOOR = "/run/outlast/door/socket"
REPR_CHARS = 10_000
TABLE_ROWS = 20
TABLE_COLUMNS = 20
CELL_CHARS = 200
MANIFEST_NAMES = 500
PLOTS_MOST = 50

main = types.ModuleType("__main__")
main.__dict__["__builtins__"] = builtins
sys.modules["__main__"] = main
G = main.__dict__
GIVEN = set(G)
cells = {}
made = {}
sources = {}
loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)
todo = queue.Queue()
running = threading.Event()
interrupted = set()
say_lock = threading.Lock()
leaving, away, back = threading.Event(), threading.Event(), threading.Event()


def say(message):
    data = (json.dumps(message, ensure_ascii=True) + "\n").encode()
    with say_lock:
        while data:
            data = data[CONTROL.write(data):]


def listen():
    left = b""
    while True:
        data = CONTROL.read(1 << 16)
        if not data and leaving.is_set():
            come_back()
            left = b""
            continue
        if not data:
            os._exit(0)
        *lines, left = (left + data).split(b"\n")
        for line in lines:
            asked = json.loads(line)
            if asked["op"] == "interrupt":
                interrupted.add(asked["id"])
                if running.is_set():
                    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            else:
                todo.put(asked)


# ── frozen and back ──────────────────────────────────────────────────────────────────────────────────────────


def held_open(fd):
    try:
        os.fstat(fd)
        return True
    except OSError:
        return False


# What the walls have left open besides the pipes of this file.
walls = [fd for fd in (3, 4, 6) if held_open(fd)]


def freeze(asked):
    back.clear()
    leaving.set()
    return {"ok": True}


def lead_nowhere(*fds, inheritable=True):
    null = os.open(os.devnull, os.O_RDWR)
    for fd in fds:
        os.dup2(null, fd, inheritable)
    os.close(null)


def go_away():
    """In the main thread, after the answer. The other thread lets go of the control pipe, and comes back."""
    flush()
    lead_nowhere(0, 1, 2)
    while walls:
        os.close(walls.pop())
    away.set()
    back.wait()


def come_back():
    away.wait()
    # Never free: what is opened meanwhile, here or by the guest, would get its number.
    lead_nowhere(5, inheritable=False)
    while True:
        try:
            control = socket.socket(socket.AF_UNIX)
            control.connect(DOOR)
            output = socket.socket(socket.AF_UNIX)
            output.connect(DOOR)
            break
        except OSError:
            time.sleep(0.05)
    os.dup2(control.fileno(), 5, inheritable=False)
    for fd in (1, 2):
        os.dup2(output.fileno(), fd)
    control.close()
    output.close()
    leaving.clear()
    away.clear()
    say({"ready": True})
    back.set()


def run(asked):
    cell, code = asked["cell"], asked["code"]
    name = f"<{cell}>"
    cells[cell] = code
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    before = {key: id(value) for key, value in G.items()}
    drawn = images()
    answer = {"ok": True}
    try:
        running.set()
        try:
            if asked["id"] in interrupted:
                raise KeyboardInterrupt
            try:
                value = execute(code, name)
                # To show and to draw is work of the guest, too, and has the same limit.
                answer.update(shown(value))
            finally:
                if not isinstance(sys.exc_info()[1], KeyboardInterrupt):
                    save_figures(cell)
        finally:
            running.clear()
        if value is not None:
            G["_"] = value
    except KeyboardInterrupt:
        answer = {"ok": False, "error": "KeyboardInterrupt: the cell was interrupted"}
    except SystemExit as error:
        answer = {"ok": False, "error": f"SystemExit: {error.code}; the kernel goes on"}
    except BaseException as error:
        answer = {"ok": False, "error": told(error, name)}
    close_figures()
    answer["plots"] = [path for path, stamp in images().items() if drawn.get(path) != stamp]
    for key, value in list(G.items()):
        if key not in before or before[key] != id(value):
            made[key] = cell
    note_sources(code, cell)
    flush()
    answer["live"] = manifest()
    return answer


def execute(code, name):
    tree = ast.parse(code, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    evaluate(compile(tree, name, "exec", flags))
    if last is None:
        return None
    return evaluate(compile(ast.Expression(last.value), name, "eval", flags))


def evaluate(code):
    value = eval(code, G)
    return loop.run_until_complete(value) if code.co_flags & inspect.CO_COROUTINE else value


def told(error, name):
    """The traceback from the cell on; what leads there is ours."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != name:
        trace = trace.tb_next
    text = "".join(traceback.format_exception(type(error), error, trace))
    # What it is about stands last.
    return text if len(text) <= REPR_CHARS else f"…{text[-REPR_CHARS:]}"


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass


# ── what a value looks like ──────────────────────────────────────────────────────────────────────────────────


def shown(value):
    if value is None:
        return {}
    try:
        table = table_of(value)
    except Exception:
        table = None
    if table is not None:
        return {"table": table}
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__name__}, whose repr fails: {error}>"
    return {"value": clip(text, REPR_CHARS)}


def table_of(value):
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(value, pandas.Series):
        value = value.to_frame()
    if pandas is not None and isinstance(value, pandas.DataFrame):
        part = value.iloc[:TABLE_ROWS, :TABLE_COLUMNS]
        # By column: across them all numbers would be of one kind, and an id would have a fraction.
        by_column = [part.index, *(part.iloc[:, at].tolist() for at in range(part.shape[1]))]
        return {
            "columns": ["", *map(cell_of, part.columns)],
            "rows": [list(map(cell_of, row)) for row in zip(*by_column)],
            "of": [int(value.shape[0]), int(value.shape[1])],
        }
    is_rows = isinstance(value, list) and value and all(isinstance(row, dict) for row in value[:TABLE_ROWS])
    if not is_rows:
        return None
    columns = list(dict.fromkeys(key for row in value[:TABLE_ROWS] for key in row))
    rows = [[cell_of(row.get(key, "")) for key in columns[:TABLE_COLUMNS]] for row in value[:TABLE_ROWS]]
    return {"columns": [cell_of(key) for key in columns[:TABLE_COLUMNS]], "rows": rows, "of": [len(value), len(columns)]}


def cell_of(value):
    return clip(str(value), CELL_CHARS)


def clip(text, most):
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"


def save_figures(cell):
    """Figures of matplotlib that are open, as PNG files beside the work."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    for number, figure in enumerate(pyplot.get_fignums() if pyplot else [], 1):
        try:
            os.makedirs(PLOTS, exist_ok=True)
            pyplot.figure(figure).savefig(os.path.join(PLOTS, f"{cell}-{number}.png"), format="png")
        except Exception as error:
            print(f"figure {number} could not be drawn: {error}", file=sys.stderr)


def close_figures():
    """Each is kept once, and those of a cell that was interrupted are none of the next."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot:
        pyplot.close("all")


def images():
    """The PNG files among the plots, whoever wrote them, and what changes when they are written again."""
    try:
        with os.scandir(PLOTS) as entries:
            found = [entry for entry in entries if entry.name.endswith(".png") and entry.is_file(follow_symlinks=False)]
            stamps = {entry.path: (entry.stat().st_mtime_ns, entry.stat().st_size) for entry in found}
    except OSError:
        return {}
    newest = sorted(stamps, key=lambda path: (-stamps[path][0], path))[:PLOTS_MOST]
    return {path: stamps[path] for path in sorted(newest)}


# ── what lives ───────────────────────────────────────────────────────────────────────────────────────────────


def names():
    return [key for key in G if key not in GIVEN and not key.startswith("_")]


def manifest():
    live = [
        {"name": key, "type": type_of(G[key]), "size": size_of(G[key]), "cell": made.get(key, "")}
        for key in names()
        if not isinstance(G[key], types.ModuleType)
    ]
    return live[:MANIFEST_NAMES]


def type_of(value):
    return clip(" ".join([type(value).__name__, *shape_of(value)]), 100)


def shape_of(value):
    """Of what has more than one dimension, as of a table: its length alone would say little."""
    try:
        shape = value.shape
        is_more = isinstance(shape, tuple) and len(shape) > 1 and all(isinstance(n, int) for n in shape)
    except Exception:
        return []
    return ["×".join(map(str, shape))] if is_more else []


def size_of(value):
    try:
        return None if shape_of(value) else len(value)
    except Exception:
        return None


def note_sources(code, cell):
    """K2: where a name is defined by `def` or `class`, and nothing has bound it otherwise since, its source is its value."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for node in tree.body:
        if isinstance(node, kinds) and made.get(node.name) == cell:
            start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            sources[node.name] = (cell, "\n".join(code.splitlines()[start - 1:node.end_lineno]))


def is_defined(name, value):
    cell, _ = sources.get(name, (None, None))
    is_kind = isinstance(value, (types.FunctionType, type)) and value.__module__ == "__main__"
    return is_kind and cell == made.get(name) and value.__qualname__ == name


# ── by value ─────────────────────────────────────────────────────────────────────────────────────────────────


def checkpoint(asked):
    modules, defined, values, lost = {}, [], {}, []
    for name in names():
        value = G[name]
        if isinstance(value, types.ModuleType):
            modules[name] = value.__name__
        elif is_defined(name, value):
            defined.append([name, sources[name][1]])
        else:
            try:
                with open(os.devnull, "wb") as nowhere:
                    pickle.dump(value, nowhere, pickle.HIGHEST_PROTOCOL)
                values[name] = value
            except BaseException as error:
                lost.append({"name": name, "why": clip(f"{type(error).__name__}: {error}", 200)})
    kept = {"modules": modules, "defined": defined, "cells": cells, "made": made, "sources": sources}
    try:
        os.makedirs(os.path.dirname(asked["path"]), exist_ok=True)
        with open(asked["path"], "wb") as file:
            pickle.dump(kept, file)
            # Into the file as it comes: in memory it would stand twice, and not fit its bounds.
            pickle.dump(values, file, pickle.HIGHEST_PROTOCOL)
    except BaseException as error:
        # A part of it is of no use, and counts as disk.
        try:
            os.unlink(asked["path"])
        except OSError:
            pass
        return {"ok": False, "error": clip(f"{type(error).__name__}: {error}", 500)}
    return {"ok": True, "kept": [*values, *(name for name, _ in defined), *modules], "lost": lost}


def restore(asked):
    failed = []

    def attempt(name, act):
        try:
            act()
        except BaseException as error:
            failed.append({"name": name, "why": clip(f"{type(error).__name__}: {error}", 200)})

    with open(asked["path"], "rb") as file:
        kept = pickle.load(file)
        cells.update(kept["cells"])
        for name, module in kept["modules"].items():
            attempt(name, lambda: G.__setitem__(name, importlib.import_module(module)))
        for name, source in kept["defined"]:
            attempt(name, lambda: exec(compile(source, f"<{kept['made'].get(name)}>", "exec"), G))
        try:
            G.update(pickle.load(file))
        except BaseException as error:
            failed.append({"name": "", "why": clip(f"{type(error).__name__}: {error}", 500)})
    os.unlink(asked["path"])
    made.update({name: cell for name, cell in kept["made"].items() if name in G})
    sources.update({name: source for name, source in kept["sources"].items() if name in G})
    return {"ok": True, "failed": failed, "live": manifest()}


# ── ─────────────────────────────────────────────────────────────────────────────────────────────────────────

DO = {"run": run, "checkpoint": checkpoint, "restore": restore, "freeze": freeze}


def serve():
    os.environ.setdefault("MPLBACKEND", "Agg")
    os.set_inheritable(5, False)
    sys.path.insert(0, HERE)
    sys.argv = [""]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=listen, daemon=True).start()
    say({"ready": True})
    while True:
        try:
            asked = todo.get()
            say({"id": asked["id"], **DO[asked["op"]](asked)})
            if leaving.is_set():
                go_away()
        except KeyboardInterrupt:
            pass  # It came when the cell had ended already.


serve()
