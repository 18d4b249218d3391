"""SQLite files in trouble: each has a defined answer, and nothing is lost or halved."""

import multiprocessing
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from langchain_agentmemory import MemoryStore
from langchain_agentmemory.backends import sqlite, sqlite_pool, sqlite_schema
from langchain_agentmemory.backends.sqlite import SQLiteBackend
from langchain_agentmemory.backends.sqlite_pool import PAGE_BYTES, SQLitePool
from langchain_agentmemory.errors import BackendUnavailable, InvalidInput

posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a POSIX system")


def open_store(path, **options):
    return MemoryStore(SQLiteBackend(path, **options))


def texts(path, **options):
    with open_store(path, **options) as store:
        return [entry.memory for entry in store.read_memories("ann")]


def refusal(path, **options):
    """The message with which a file is refused, which must not have changed it."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(BackendUnavailable) as raised:
        open_store(path, **options).add_memory("ann", "x")
    if before is not None:
        assert path.read_bytes() == before
    return str(raised.value)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.db"


# -- files that are not ours -----------------------------------------------------------


@pytest.mark.parametrize("content", [b"dear diary\n" * 500, os.urandom(10_000), b"x"])
def test_a_file_that_is_no_database_is_refused_and_kept(path, content):
    path.write_bytes(content)
    message = refusal(path)
    assert str(path) in message
    assert "not a SQLite database" in message


def test_an_empty_file_becomes_a_store(path):
    path.touch()
    open_store(path).add_memory("ann", "tea")
    assert texts(path) == ["tea"]


def test_a_damaged_file_is_refused_and_kept(path):
    with open_store(path) as store:
        for number in range(300):
            store.add_memory("ann", f"memory {number} " + "x" * 300)
    content = bytearray(path.read_bytes())
    content[4_096:60_000] = b"\xff" * (60_000 - 4_096)
    path.write_bytes(content)
    message = refusal(path)
    assert str(path) in message
    assert "damaged" in message


def root_page(path, table):
    """The position in a file where a table begins."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    (page,) = connection.execute(
        "SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)
    ).fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    return (page - 1) * size, size


def page_size(path):
    connection = sqlite3.connect(path)
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    return size


def test_a_new_file_has_pages_that_several_vectors_fit_into(path):
    with open_store(path) as store:
        store.add_memory("ann", "tea")
    assert page_size(path) == PAGE_BYTES


def test_a_file_that_is_there_keeps_the_size_of_its_pages(path):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA page_size = 4096")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    for text in ("tea", "coffee"):
        with open_store(path) as store:
            store.add_memory("ann", text)
    assert page_size(path) == 4096
    assert set(texts(path)) == {"tea", "coffee"}


@pytest.mark.parametrize("table", ["memories_meta", "memories_namespaces", "memories"])
def test_a_damaged_table_of_ours_is_not_taken_for_somebody_elses(path, table):
    with open_store(path) as store:
        store.add_memory("ann", "tea")
    start, size = root_page(path, table)
    content = bytearray(path.read_bytes())
    content[start : start + size] = b"\xff" * size
    path.write_bytes(content)
    message = refusal(path)
    assert "damaged" in message
    assert "restore a backup" in message
    assert "integrity_check" in message
    assert "did not make" not in message


def test_a_file_whose_first_page_is_damaged_is_said_to_be(path):
    with open_store(path) as store:
        store.add_memory("ann", "tea")
    content = bytearray(path.read_bytes())
    content[16:100] = b"\xff" * 84  # after the name of the format
    path.write_bytes(content)
    message = refusal(path)
    assert "damaged" in message
    assert "restore a backup" in message


def test_a_version_that_is_no_number_is_refused(path):
    with open_store(path) as store:
        store.add_memory("ann", "tea")
    connection = sqlite3.connect(path)
    connection.execute("UPDATE memories_meta SET value = 'x'")
    connection.commit()
    connection.close()
    assert "memories_meta" in refusal(path)


@pytest.mark.parametrize(
    "name", ["memories", "memories_namespaces", "memories_outbox", "memories_meta"]
)
def test_tables_of_somebody_else_are_left_alone(path, name):
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE {name} (title TEXT)")
        connection.execute(f"INSERT INTO {name} VALUES ('mine')")  # noqa: S608
    connection.close()
    message = refusal(path)
    assert name in message
    assert "left untouched" in message
    connection = sqlite3.connect(path)
    rows = connection.execute(f"SELECT * FROM {name}").fetchall()  # noqa: S608
    assert rows == [("mine",)]
    connection.close()


def test_another_table_name_works_beside_foreign_tables(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE memories (title TEXT)")
    connection.close()
    open_store(path, table="agent").add_memory("ann", "tea")
    assert texts(path, table="agent") == ["tea"]


@pytest.mark.parametrize("name", ["select", "Table", "ORDER", "index", "_", "values"])
def test_a_word_of_sql_is_a_table_name_like_any_other(path, name):
    with MemoryStore(SQLiteBackend(path, table=name), soft_delete=True) as store:
        entry = store.add_memory("ann", "tea")
        store.add_memory("ann", "coffee")
        assert store.delete_memory("ann", entry.id)
        assert store.purge_deleted() == 1
        assert store.sweep_ttl() == 0
        assert store.describe()["table"] == name
    assert texts(path, table=name) == ["coffee"]
    assert texts(path, table=name.swapcase()) == ["coffee"]  # as SQL has it


def test_an_administrator_can_make_the_tables_of_any_name(path):
    ddl = SQLiteBackend(path, table="select").ddl()
    connection = sqlite3.connect(path)
    connection.executescript(ddl)
    connection.close()
    with open_store(path, table="select", skip_init=True) as store:
        store.add_memory("ann", "tea")


@pytest.mark.parametrize("options", [
    {"table": None}, {"table": 5}, {"table": ["memories"]}, {"synchronous": "OFF"},
    {"synchronous": None}, {"synchronous": "normal; DROP TABLE x"}, {"timeout": -1},
    {"timeout": float("nan")}, {"timeout": float("inf")}, {"timeout": "5"},
    {"timeout": None}, {"timeout": True}, {"timeout": 1e12},
])  # fmt: skip
def test_settings_of_a_file_that_make_no_sense_are_refused(path, options):
    with pytest.raises(InvalidInput, match=next(iter(options))):
        SQLiteBackend(path, **options)


@pytest.mark.parametrize("name", [None, 5, b"a.db", "", "a\x00b"])
def test_what_cannot_be_the_name_of_a_file_is_refused(name):
    with pytest.raises(InvalidInput):
        SQLiteBackend(name)


def test_a_file_can_be_shared_with_the_tables_of_an_application(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE orders (n INTEGER)")
    connection.execute("INSERT INTO orders VALUES (7)")
    connection.commit()
    with open_store(path) as store:
        store.add_memory("ann", "tea")
        assert store.describe()["other tables"] == "'orders'"
    assert connection.execute("SELECT n FROM orders").fetchall() == [(7,)]
    connection.close()


@posix
def test_a_new_file_is_for_its_owner_only(path):
    before = os.umask(0)
    try:
        with open_store(path) as store:
            store.add_memory("ann", "tea")
            files = sorted(path.parent.iterdir())
            assert len(files) == 3  # the log and its index beside it
            assert {oct(file.stat().st_mode & 0o777) for file in files} == {"0o600"}
    finally:
        os.umask(before)


@posix
def test_the_permissions_of_a_file_that_exists_are_kept(path):
    path.touch()
    path.chmod(0o640)
    open_store(path).add_memory("ann", "tea")
    assert path.stat().st_mode & 0o777 == 0o640


def test_many_other_tables_are_counted(path):
    connection = sqlite3.connect(path)
    for number in range(20):
        connection.execute(f"CREATE TABLE t{number:02} (n INTEGER)")
    connection.close()
    with open_store(path) as store:
        assert store.describe()["other tables"].endswith("'t04' and 15 more")
    with open_store(path.with_name("own.db")) as store:
        assert "other tables" not in store.describe()


def test_two_tables_in_one_file_are_two_stores(path):
    open_store(path, table="one").add_memory("ann", "tea")
    open_store(path, table="two").add_memory("ann", "coffee")
    assert (texts(path, table="one"), texts(path, table="two")) == (["tea"], ["coffee"])


@pytest.mark.parametrize(
    "name", ["", "1st", "a b", 'a"b', "a;b", "a.b", "sqlite_x", "ä", "x" * 49, "a\n"]
)
def test_a_table_name_that_is_none_is_refused(path, name):
    with pytest.raises(InvalidInput, match="table name"):
        SQLiteBackend(path, table=name)


# -- schema ----------------------------------------------------------------------------


def test_a_newer_schema_is_refused(path):
    open_store(path).add_memory("ann", "tea")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE memories_meta SET value='99' WHERE key='schema'")
    connection.close()
    with pytest.raises(BackendUnavailable, match=r"newer.*99.*upgrade"):
        open_store(path).read_memories("ann")


def test_an_older_schema_is_migrated_with_its_data(path, monkeypatch):
    with monkeypatch.context() as old:
        for module in (sqlite_schema, sqlite):
            old.setattr(module, "MIGRATIONS", sqlite_schema.MIGRATIONS[:1])
        open_store(path).add_memory("ann", "tea")
        assert open_store(path).describe()["schema"] == "1"
    with open_store(path) as store:
        assert [entry.memory for entry in store.read_memories("ann")] == ["tea"]
        assert store.describe()["schema"] == str(len(sqlite_schema.MIGRATIONS))
    connection = sqlite3.connect(path)
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    connection.close()
    assert "memories_outbox" not in tables  # of schema 2; never used
    assert "memories_namespaces_filled" in tables


def test_an_interrupted_migration_leaves_the_old_schema(path, monkeypatch):
    with monkeypatch.context() as old:
        for module in (sqlite_schema, sqlite):
            old.setattr(module, "MIGRATIONS", sqlite_schema.MIGRATIONS[:1])
        open_store(path).add_memory("ann", "tea")
    broken = (
        *sqlite_schema.MIGRATIONS,
        ("CREATE TABLE {t}_new (id INTEGER)", "nonsense"),
    )
    with monkeypatch.context() as newer:
        for module in (sqlite_schema, sqlite):
            newer.setattr(module, "MIGRATIONS", broken)
        with pytest.raises(BackendUnavailable):
            open_store(path).setup()
    connection = sqlite3.connect(path)
    names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    (version,) = connection.execute("SELECT value FROM memories_meta").fetchone()
    connection.close()
    assert version == "1"
    assert not names & {"memories_new", "memories_outbox"}
    assert texts(path) == ["tea"]


def test_without_ddl_rights_a_missing_schema_is_named(path):
    message = refusal(path, skip_init=True)
    assert "CREATE TABLE memories" in message
    assert "skip_init" in message


def test_without_ddl_rights_an_existing_schema_is_used(path):
    connection = sqlite3.connect(path)
    connection.executescript(SQLiteBackend().ddl())
    connection.close()
    open_store(path, skip_init=True).add_memory("ann", "tea")
    assert texts(path, skip_init=True) == ["tea"]


def test_many_threads_may_open_a_new_file_at_once(path):
    errors = []

    def work(number):
        try:
            open_store(path).add_memory("ann", f"memory {number}")
        except Exception as error:  # noqa: BLE001 - shown below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(texts(path)) == 8


# -- places ----------------------------------------------------------------------------


def test_a_missing_folder_is_named(tmp_path):
    message = refusal(tmp_path / "no" / "such" / "store.db")
    assert "does not exist: create it first" in message


def test_a_folder_is_no_file(tmp_path):
    assert str(tmp_path) in refusal(tmp_path)


@posix
def test_a_read_only_file_is_named(path):
    open_store(path).add_memory("ann", "tea")
    code = """
        import os, sys
        from langchain_agentmemory import MemoryStore
        from langchain_agentmemory.errors import BackendUnavailable
        MemoryStore.from_url("sqlite://").setup()  # imports what it needs
        os.chmod(sys.argv[1], 0o444)
        os.chmod(os.path.dirname(sys.argv[1]), 0o555)
        if os.getuid() == 0:
            os.setgid(65534)
            os.setuid(65534)  # root may write everything
        try:
            MemoryStore.from_url("sqlite:///" + sys.argv[1]).add_memory("ann", "x")
        except BackendUnavailable as error:
            print(error)
        """
    # A place that another user may enter, unlike pytest's own folders.
    folder = Path("/var/tmp") / f"agentmemory-{os.getpid()}"  # noqa: S108 - removed below
    folder.mkdir(mode=0o755)
    try:
        shutil.copy(path, folder / "store.db")
        result = python(code, folder / "store.db")
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)
    assert "cannot be opened for writing" in result.stdout, result.stderr
    assert "permissions" in result.stdout


def test_a_locked_file_is_waited_for_and_then_named(path):
    with open_store(path, timeout=0.2) as store:
        store.add_memory("ann", "tea")
        blocker = sqlite3.connect(path, isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        with pytest.raises(BackendUnavailable, match=r"locked.*0\.2 s.*try again"):
            store.add_memory("ann", "coffee")
        assert 0.15 < time.monotonic() - began < 5
        assert store.read_memories("ann")[0].memory == "tea"  # readers do not wait
        blocker.execute("ROLLBACK")
        blocker.close()
        store.add_memory("ann", "coffee")
        assert store.count_memories("ann") == 2


# -- full disks ------------------------------------------------------------------------


@posix
def test_a_full_disk_stops_writes_and_loses_none_that_was_acknowledged(path):
    code = """
        import resource, signal, sys
        from langchain_agentmemory import MemoryStore
        from langchain_agentmemory.errors import BackendUnavailable
        store = MemoryStore.from_url("sqlite:///" + sys.argv[1], memory_limit=None)
        store.setup()
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (800_000, -1))
        done = 0
        try:
            while done < 10_000:
                store.add_memory("ann", f"memory {done} " + "x" * 500)
                done += 1
        except BackendUnavailable as error:
            print(error)
        print(store.count_memories("ann") == done)
        resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
        store.add_memory("ann", "there is room again")
        print(done)
        """
    result = python(code, path)
    message, counted, done = result.stdout.splitlines()
    assert "Nothing was written" in message
    assert counted == "True"
    kept = texts(path)
    assert kept[0] == "there is room again"
    assert len(kept) == int(done) + 1 > 10


@posix
def test_a_full_file_system_is_named(tmp_path):
    mount = shutil.which("mount")
    folder = tmp_path / "small"
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if not mount or subprocess.run([mount, *options], capture_output=True).returncode:  # noqa: PLW1510 - that is the question
        pytest.skip("mounting a small file system needs root")
    try:
        store = MemoryStore(SQLiteBackend(folder / "store.db"), memory_limit=None)
        done = 0
        with pytest.raises(BackendUnavailable, match=r"full.*free some space"):  # noqa: PT012 - the last of many
            for done in range(10_000):
                store.add_memory("ann", f"memory {done} " + "x" * 900)
        assert store.count_memories("ann") == done > 10
        store.close()
        copy = tmp_path / "copy"
        shutil.copytree(folder, copy)
    finally:
        subprocess.run(["umount", str(folder)], check=True)  # noqa: S607
    assert len(texts(copy / "store.db")) == done


# -- processes -------------------------------------------------------------------------


def python(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@posix
@pytest.mark.parametrize("verb", ["add", "update", "delete"])
def test_a_write_that_returned_survives_a_kill(path, verb):
    with open_store(path) as store:
        first = store.add_memory("ann", "before")
    code = """
        import os, signal, sys
        from langchain_agentmemory import MemoryStore
        store = MemoryStore.from_url("sqlite:///" + sys.argv[1])
        match sys.argv[2]:
            case "add":
                store.add_memory("ann", "after")
            case "update":
                store.update_memory("ann", sys.argv[3], "after")
            case "delete":
                store.delete_memory("ann", sys.argv[3])
        os.kill(os.getpid(), signal.SIGKILL)
        """
    result = python(code, path, verb, first.id)
    assert result.returncode == -signal.SIGKILL, result.stderr
    expected = {"add": ["after", "before"], "update": ["after"], "delete": []}
    assert texts(path) == expected[verb]


@posix
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_goes_on_with_the_same_store_object(path):
    store = open_store(path)
    store.add_memory("ann", "before the fork")
    store.search_memories("ann", "fork")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            for number in range(20):
                store.add_memory("ann", f"child {number}")
            found = store.search_memories("ann", "fork")
            store.close()
            code = 0 if found else 2
        finally:
            os._exit(code)
    for number in range(20):
        store.add_memory("ann", f"parent {number}")
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    store.add_memory("ann", "after the child ended")
    assert store.count_memories("ann") == 42
    assert store.search_memories("ann", "child", limit=50)
    store.close()
    assert len(texts(path)) == 42


@posix
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_loses_nothing_when_its_parent_closes_first(path):
    store = open_store(path)
    store.add_memory("ann", "parent")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        store.add_memory("ann", "child before")
        os.read(reading, 1)
        for number in range(10):
            store.add_memory("ann", f"child after {number}")
        os._exit(0)
    time.sleep(0.5)
    store.close()
    os.write(writing, b"x")
    _, status = os.waitpid(child, 0)
    os.close(reading)
    os.close(writing)
    assert os.waitstatus_to_exitcode(status) == 0
    assert len(texts(path)) == 12


@posix
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_store_in_memory_is_copied_by_a_fork():
    store = open_store(":memory:")
    store.add_memory("ann", "tea")
    child = os.fork()
    if child == 0:
        store.add_memory("ann", "child")
        os._exit(store.count_memories("ann"))
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 2
    assert store.count_memories("ann") == 1


def _child(store, number):
    for turn in range(10):
        store.add_memory("ann", f"child {number} turn {turn}")
    store.close()


@posix
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_multiprocessing_by_fork_shares_a_store(path):
    store = open_store(path)
    store.add_memory("ann", "parent")
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=_child, args=(store, n)) for n in range(3)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0, 0, 0]
    assert store.count_memories("ann") == 31


@posix
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_while_another_thread_writes_does_not_hang(path):
    store = open_store(path)
    store.add_memory("ann", "first")
    stop = threading.Event()

    def write():
        number = 0
        while not stop.is_set():
            store.add_memory("ben", f"memory {number % 50}")
            store.search_memories("ben", "memory")
            number += 1

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for number in range(5):
            child = os.fork()
            if child == 0:
                signal.alarm(20)  # a child that hangs is killed
                store.add_memory("ann", f"child {number}")
                store.search_memories("ben", "memory")
                os._exit(0)
            _, status = os.waitpid(child, 0)
            assert os.waitstatus_to_exitcode(status) == 0
    finally:
        stop.set()
        thread.join()
    assert store.count_memories("ann") == 6


def test_a_fork_waits_once_for_all_stores(tmp_path, monkeypatch):
    stores = [open_store(tmp_path / f"{number}.db") for number in range(3)]
    asked = {}

    def before_fork(pool, until):
        asked[pool] = until

    monkeypatch.setattr(SQLitePool, "before_fork", before_fork)
    sqlite_pool._before_fork()
    sqlite_pool._after_fork_in_parent()
    assert {store.backend._pool for store in stores} <= set(asked)
    assert len(set(asked.values())) == 1


@posix
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_does_not_wait_for_ever_for_a_connection(path, monkeypatch):
    monkeypatch.setattr(sqlite_pool, "FORK_PATIENCE", 0.1)
    store = open_store(path)
    store.add_memory("ann", "tea")
    with store.backend._pool.reading():
        child = os.fork()
        if child == 0:
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert store.count_memories("ann") == 1


@posix
def test_open_files_do_not_grow_with_use(path):
    store = open_store(path)
    store.add_memory("ann", "tea")
    files = Path("/proc/self/fd")
    before = len(list(files.iterdir())) if files.exists() else 0
    for _ in range(200):
        store.read_memories("ann")
        store.add_memory("ann", "tea")
    after = len(list(files.iterdir())) if files.exists() else 0
    assert after <= before + 3
    store.close()


def test_closing_leaves_one_file(path):
    with open_store(path) as store:
        store.add_memory("ann", "tea")
    assert [found.name for found in path.parent.iterdir()] == [path.name]


def test_vectors_are_read_only_where_they_are_wanted(tmp_path):
    url = f"sqlite:///{tmp_path / 'store.db'}"
    with MemoryStore.from_url(url, index={"embed": numbers, "dims": 2}) as store:
        store.add_memory("ann", "Ann plays chess")
        namespace = ("memories", "default", "ann")
        (wanted,) = store.backend.columns(namespace, 10)
        (bare,) = store.backend.columns(namespace, 10, vectors=False)
    assert wanted.vectors[0] is not None
    assert bare.vectors == (None,)
    assert bare._replace(vectors=wanted.vectors, record=None) == wanted._replace(
        record=None
    )


def numbers(texts):
    return [[1.0, float(len(text))] for text in texts]
