"""Which of LangGraph's store tests bind any store: 278 of 331 items.

Every test function of the six upstream files stands here with the number of its items
(one variant of each fixture; upstream runs some of them once per connection mode and
vector type) and one of three kinds:

* `CONTRACT`: a rule of the store interface. Ours must pass it.
* `IMPL`: looks into the tables or private functions of one shipped store.
* `BASE`: tests a function or class of langgraph itself; no store takes part.
"""

from typing import Final, Literal, NamedTuple

Kind = Literal["CONTRACT", "IMPL", "BASE"]
CONTRACT: Final = "CONTRACT"
IMPL: Final = "IMPL"
BASE: Final = "BASE"


class Suite(NamedTuple):
    """One test file of one source package."""

    distribution: str
    file: str


class Row(NamedTuple):
    """One test function: its items, its kind, what it checks or why it is left out."""

    name: str
    items: int
    kind: Kind
    reason: str


CONTRACT_ITEMS: Final = 278

WAIVED: Final = {
    "test_no_running_loop": (
        "requires sync calls on the event loop's thread to raise InvalidStateError; a "
        "store that one object serves safely in both worlds answers them"
    )
}
"""The only tests of the contract that ours are expected to fail, and why."""

TABLE: Final[dict[Suite, tuple[Row, ...]]] = {
    Suite("langgraph-checkpoint", "test_store.py"): (
        Row(
            "test_async_batch_store_resilience",
            1,
            BASE,
            "the task of AsyncBatchedBaseStore",
        ),
        Row(
            "test_dedupe_ops_maps_repeated_reads_and_puts_to_one_op",
            1,
            BASE,
            "a private function of langgraph",
        ),
        Row("test_get_text_at_path", 1, BASE, "a function of langgraph"),
        Row(
            "test_get_text_at_path_with_non_dict_mapping",
            2,
            BASE,
            "a function of langgraph",
        ),
        Row("test_async_batch_store", 1, BASE, "the queue of AsyncBatchedBaseStore"),
        Row(
            "test_async_batch_store_handles_cancellation",
            1,
            BASE,
            "the queue of AsyncBatchedBaseStore",
        ),
        Row(
            "test_list_namespaces_basic",
            1,
            CONTRACT,
            "list_namespaces by prefix, suffix and both",
        ),
        Row(
            "test_list_namespaces_with_wildcards",
            1,
            CONTRACT,
            "a * stands for one label",
        ),
        Row(
            "test_list_namespaces_pagination",
            1,
            CONTRACT,
            "limit and offset of list_namespaces",
        ),
        Row(
            "test_list_namespaces_max_depth",
            1,
            CONTRACT,
            "max_depth cuts and makes distinct",
        ),
        Row(
            "test_list_namespaces_no_conditions",
            1,
            CONTRACT,
            "list_namespaces without conditions",
        ),
        Row(
            "test_search_pages_match_full_listing",
            1,
            CONTRACT,
            "pages of search add up to the listing",
        ),
        Row(
            "test_vector_search_scores_every_item",
            1,
            CONTRACT,
            "every indexed item gets a score",
        ),
        Row(
            "test_list_namespaces_empty_store",
            1,
            CONTRACT,
            "an empty store lists nothing",
        ),
        Row(
            "test_cannot_put_empty_namespace",
            1,
            CONTRACT,
            "which namespaces put accepts",
        ),
        Row(
            "test_rejects_invalid_namespace_labels",
            20,
            CONTRACT,
            "bad labels are refused before batch",
        ),
        Row(
            "test_async_rejects_invalid_namespace_labels",
            40,
            CONTRACT,
            "bad labels are refused before abatch",
        ),
        Row(
            "test_search_and_listing_keep_empty_prefixes_and_wildcards",
            1,
            CONTRACT,
            "empty prefixes and * stay legal",
        ),
        Row(
            "test_async_search_and_listing_keep_empty_prefixes_and_wildcards",
            2,
            CONTRACT,
            "empty prefixes and * stay legal",
        ),
        Row(
            "test_validate_op_namespace_rejects_invalid_labels",
            24,
            BASE,
            "a function of langgraph",
        ),
        Row(
            "test_validate_op_namespace_allows_empty_prefix_and_wildcards",
            1,
            BASE,
            "a function of langgraph",
        ),
        Row(
            "test_async_batch_store_deduplication",
            1,
            BASE,
            "the queue of AsyncBatchedBaseStore",
        ),
        Row(
            "test_vector_store_initialization", 1, CONTRACT, "index_config is readable"
        ),
        Row(
            "test_vector_insert_with_auto_embedding",
            1,
            CONTRACT,
            "put embeds by itself",
        ),
        Row(
            "test_async_vector_insert_with_auto_embedding",
            1,
            CONTRACT,
            "aput embeds by itself",
        ),
        Row(
            "test_vector_update_with_embedding",
            1,
            CONTRACT,
            "an overwrite re-embeds, index=False does not rank",
        ),
        Row(
            "test_async_vector_update_with_embedding",
            1,
            CONTRACT,
            "an overwrite re-embeds, index=False does not rank",
        ),
        Row(
            "test_vector_search_with_filters", 1, CONTRACT, "query and filter together"
        ),
        Row(
            "test_async_vector_search_with_filters",
            1,
            CONTRACT,
            "query and filter together",
        ),
        Row(
            "test_async_batched_vector_search_concurrent",
            1,
            CONTRACT,
            "many searches at the same time",
        ),
        Row("test_vector_search_pagination", 1, CONTRACT, "pages of a vector search"),
        Row(
            "test_async_vector_search_pagination",
            1,
            CONTRACT,
            "pages of a vector search",
        ),
        Row(
            "test_embed_with_path",
            1,
            CONTRACT,
            "index fields, several vectors per item",
        ),
        Row("test_non_ascii", 1, CONTRACT, "text in five scripts is found"),
    ),
    Suite("langgraph-checkpoint-postgres", "test_store.py"): (
        Row("test_batch_order", 1, CONTRACT, "results in the order of the operations"),
        Row("test_batch_get_ops", 1, CONTRACT, "GetOps in a batch"),
        Row("test_batch_put_ops", 1, CONTRACT, "PutOps in a batch, deletion included"),
        Row("test_batch_search_ops", 1, CONTRACT, "SearchOps in a batch"),
        Row(
            "test_batch_list_namespaces_ops",
            1,
            CONTRACT,
            "ListNamespacesOps in a batch",
        ),
        Row("test_basic_store_ops", 1, CONTRACT, "put, get, overwrite, delete"),
        Row(
            "test_list_namespaces", 1, CONTRACT, "list_namespaces with every condition"
        ),
        Row("test_escape_like_literal", 1, IMPL, "a private function for SQL LIKE"),
        Row(
            "test_namespace_match_pattern",
            1,
            IMPL,
            "a private function for SQL patterns",
        ),
        Row(
            "test_search_namespace_segment_boundary",
            1,
            CONTRACT,
            "a prefix ends at a label's end",
        ),
        Row(
            "test_search_empty_prefix_is_unconstrained",
            1,
            CONTRACT,
            "an empty prefix means everything",
        ),
        Row(
            "test_search_namespace_like_metacharacters",
            1,
            CONTRACT,
            "_ and % are plain characters",
        ),
        Row(
            "test_list_namespaces_segment_boundary",
            1,
            CONTRACT,
            "conditions match whole labels",
        ),
        Row("test_search", 1, CONTRACT, "search by prefix, filter, limit and offset"),
        Row(
            "test_vector_store_initialization", 1, CONTRACT, "index_config is readable"
        ),
        Row(
            "test_vector_insert_with_auto_embedding",
            1,
            CONTRACT,
            "put embeds by itself",
        ),
        Row(
            "test_vector_update_with_embedding",
            1,
            CONTRACT,
            "an overwrite re-embeds, index=False does not rank",
        ),
        Row(
            "test_vector_search_with_filters", 2, CONTRACT, "query and filter together"
        ),
        Row("test_vector_search_pagination", 1, CONTRACT, "pages of a vector search"),
        Row(
            "test_vector_search_edge_cases", 1, CONTRACT, "empty, long and odd queries"
        ),
        Row(
            "test_embed_with_path_sync",
            4,
            CONTRACT,
            "index fields, several vectors per item",
        ),
        Row("test_embed_with_path_operation_config", 4, CONTRACT, "index= of one put"),
        Row("test_scores", 15, CONTRACT, "the score is the configured similarity"),
        Row("test_nonnull_migrations", 1, IMPL, "reads PostgresStore.MIGRATIONS"),
        Row("test_store_ttl", 1, CONTRACT, "expiry, refresh on read, sweeper"),
        Row(
            "test_omit_expired_filters_read_paths",
            1,
            IMPL,
            "writes to PostgreSQL tables directly",
        ),
        Row(
            "test_omit_expired_disabled_preserves_expired_rows",
            2,
            IMPL,
            "writes to PostgreSQL tables directly",
        ),
        Row(
            "test_omit_expired_refresh_ttl_only_refreshes_live_rows",
            1,
            IMPL,
            "writes to PostgreSQL tables directly",
        ),
        Row(
            "test_omit_expired_search_pagination",
            1,
            IMPL,
            "writes to PostgreSQL tables directly",
        ),
        Row("test_non_ascii", 4, CONTRACT, "text in five scripts is found"),
        Row(
            "test_namespace_labels_with_trailing_newline",
            1,
            CONTRACT,
            "a newline is part of a label",
        ),
        Row(
            "test_batch_rejects_invalid_namespace_labels",
            18,
            CONTRACT,
            "batch itself refuses bad labels",
        ),
        Row(
            "test_batch_allows_empty_search_prefix_and_listing_wildcards",
            1,
            CONTRACT,
            "batch keeps empty prefixes and * legal",
        ),
    ),
    Suite("langgraph-checkpoint-postgres", "test_async_store.py"): (
        Row(
            "test_no_running_loop",
            1,
            CONTRACT,
            "WAIVED: wants sync calls on the loop's thread to fail",
        ),
        Row("test_large_batches", 1, CONTRACT, "hundreds of calls from ten threads"),
        Row("test_large_batches_async", 1, CONTRACT, "hundreds of calls in one loop"),
        Row("test_abatch_order", 1, CONTRACT, "results in the order of the operations"),
        Row("test_batch_get_ops", 1, CONTRACT, "GetOps in a batch"),
        Row("test_batch_put_ops", 1, CONTRACT, "PutOps in a batch, deletion included"),
        Row("test_batch_search_ops", 1, CONTRACT, "SearchOps in a batch"),
        Row(
            "test_batch_list_namespaces_ops",
            1,
            CONTRACT,
            "ListNamespacesOps in a batch",
        ),
        Row(
            "test_abatch_uses_single_pool_checkout",
            1,
            IMPL,
            "patches the connection pool of psycopg",
        ),
        Row(
            "test_vector_store_initialization", 1, CONTRACT, "index_config is readable"
        ),
        Row(
            "test_vector_insert_with_auto_embedding",
            1,
            CONTRACT,
            "put embeds by itself",
        ),
        Row(
            "test_vector_update_with_embedding",
            1,
            CONTRACT,
            "an overwrite re-embeds, index=False does not rank",
        ),
        Row(
            "test_vector_search_with_filters", 1, CONTRACT, "query and filter together"
        ),
        Row("test_vector_search_pagination", 1, CONTRACT, "pages of a vector search"),
        Row(
            "test_vector_search_edge_cases", 1, CONTRACT, "empty, long and odd queries"
        ),
        Row(
            "test_embed_with_path",
            6,
            CONTRACT,
            "index fields, several vectors per item",
        ),
        Row("test_search_sorting", 6, CONTRACT, "the best of 201 items comes first"),
        Row("test_store_ttl", 1, CONTRACT, "expiry, refresh on read, sweeper"),
        Row(
            "test_omit_expired_filters_read_paths",
            1,
            IMPL,
            "writes to PostgreSQL tables directly",
        ),
        Row(
            "test_omit_expired_disabled_preserves_expired_rows",
            2,
            IMPL,
            "writes to PostgreSQL tables directly",
        ),
        Row(
            "test_omit_expired_refresh_ttl_only_refreshes_live_rows",
            1,
            IMPL,
            "writes to PostgreSQL tables directly",
        ),
        Row(
            "test_omit_expired_search_pagination",
            1,
            IMPL,
            "writes to PostgreSQL tables directly",
        ),
        Row(
            "test_abatch_rejects_invalid_namespace_labels",
            3,
            CONTRACT,
            "abatch itself refuses bad labels",
        ),
        Row(
            "test_invalid_namespace_only_fails_its_own_call",
            1,
            CONTRACT,
            "a bad call does not fail its neighbours",
        ),
        Row(
            "test_sync_methods_reject_invalid_namespace_labels",
            1,
            CONTRACT,
            "sync calls beside a loop refuse bad labels",
        ),
    ),
    Suite("langgraph-checkpoint-sqlite", "test_store.py"): (
        Row("test_batch_order", 1, CONTRACT, "results in the order of the operations"),
        Row("test_batch_get_ops", 1, CONTRACT, "GetOps in a batch"),
        Row("test_batch_put_ops", 1, CONTRACT, "PutOps in a batch, deletion included"),
        Row("test_batch_search_ops", 1, CONTRACT, "SearchOps in a batch"),
        Row(
            "test_batch_list_namespaces_ops",
            1,
            CONTRACT,
            "ListNamespacesOps in a batch",
        ),
        Row("test_basic_store_ops", 1, CONTRACT, "put, get, overwrite, delete"),
        Row(
            "test_list_namespaces", 1, CONTRACT, "list_namespaces with every condition"
        ),
        Row("test_search", 1, CONTRACT, "search by prefix, filter, limit and offset"),
        Row(
            "test_vector_store_initialization",
            1,
            IMPL,
            "looks for tables in sqlite_master",
        ),
        Row(
            "test_vector_insert_with_auto_embedding",
            2,
            CONTRACT,
            "put embeds by itself",
        ),
        Row(
            "test_vector_update_with_embedding",
            2,
            CONTRACT,
            "an overwrite re-embeds, index=False does not rank",
        ),
        Row(
            "test_vector_search_with_filters", 1, CONTRACT, "query and filter together"
        ),
        Row("test_vector_search_pagination", 1, CONTRACT, "pages of a vector search"),
        Row(
            "test_vector_search_edge_cases", 1, CONTRACT, "empty, long and odd queries"
        ),
        Row(
            "test_embed_with_path",
            1,
            CONTRACT,
            "index fields, several vectors per item",
        ),
        Row("test_embed_with_path_operation_config", 1, CONTRACT, "index= of one put"),
        Row("test_scores", 10, CONTRACT, "the score is the configured similarity"),
        Row("test_nonnull_migrations", 1, IMPL, "reads SqliteStore.MIGRATIONS"),
        Row("test_basic_store_operations", 1, CONTRACT, "put, get, overwrite, delete"),
        Row(
            "test_list_namespaces_operations",
            1,
            CONTRACT,
            "list_namespaces with every condition",
        ),
        Row(
            "test_search_items",
            1,
            CONTRACT,
            "search by prefix, filter, limit and offset",
        ),
        Row(
            "test_sql_injection_vulnerability",
            1,
            CONTRACT,
            "a filter key that is no path is a ValueError",
        ),
        Row(
            "test_sql_injection_filter_values",
            1,
            CONTRACT,
            "filter values are data, quotes included",
        ),
        Row("test_numeric_filter_safety", 1, CONTRACT, "numbers compare as numbers"),
        Row("test_boolean_filter_safety", 1, CONTRACT, "booleans compare as booleans"),
        Row(
            "test_filter_keys_with_hyphens_and_digits",
            1,
            CONTRACT,
            "filter keys with hyphens and digits",
        ),
        Row("test_non_ascii", 1, CONTRACT, "text in five scripts is found"),
        Row("test_escape_glob_literal", 1, IMPL, "a private function for SQL GLOB"),
        Row(
            "test_namespace_match_pattern",
            1,
            IMPL,
            "a private function for SQL patterns",
        ),
        Row(
            "test_search_namespace_segment_boundary",
            1,
            CONTRACT,
            "a prefix ends at a label's end",
        ),
        Row(
            "test_search_namespace_wildcard_chars_are_literal",
            1,
            CONTRACT,
            "* ? [ are plain characters in search",
        ),
        Row(
            "test_search_namespace_is_case_sensitive",
            1,
            CONTRACT,
            "labels are case-sensitive",
        ),
        Row(
            "test_list_namespaces_segment_boundary",
            1,
            CONTRACT,
            "conditions match whole labels",
        ),
        Row(
            "test_search_empty_prefix_is_unconstrained",
            1,
            CONTRACT,
            "an empty prefix means everything",
        ),
        Row(
            "test_namespace_labels_with_trailing_newline",
            1,
            CONTRACT,
            "a newline is part of a label",
        ),
        Row(
            "test_list_namespaces_prefix_uses_indexable_condition",
            1,
            IMPL,
            "reads the SQL text of SqliteStore",
        ),
        Row(
            "test_list_namespaces_metacharacter_labels",
            1,
            CONTRACT,
            "_ % * ? [ in labels are plain characters",
        ),
        Row(
            "test_batch_rejects_invalid_namespace_labels",
            18,
            CONTRACT,
            "batch itself refuses bad labels",
        ),
        Row(
            "test_batch_allows_empty_search_prefix_and_listing_wildcards",
            1,
            CONTRACT,
            "batch keeps empty prefixes and * legal",
        ),
    ),
    Suite("langgraph-checkpoint-sqlite", "test_async_store.py"): (
        Row(
            "test_no_running_loop",
            1,
            CONTRACT,
            "WAIVED: wants sync calls on the loop's thread to fail",
        ),
        Row("test_large_batches_async", 1, CONTRACT, "hundreds of calls in one loop"),
        Row("test_abatch_order", 1, CONTRACT, "results in the order of the operations"),
        Row("test_batch_get_ops", 1, CONTRACT, "GetOps in a batch"),
        Row("test_batch_put_ops", 1, CONTRACT, "PutOps in a batch, deletion included"),
        Row("test_batch_search_ops", 1, CONTRACT, "SearchOps in a batch"),
        Row(
            "test_batch_list_namespaces_ops",
            1,
            CONTRACT,
            "ListNamespacesOps in a batch",
        ),
        Row(
            "test_vector_store_initialization",
            1,
            IMPL,
            "twin of the test that reads sqlite_master",
        ),
        Row(
            "test_vector_insert_with_auto_embedding",
            1,
            CONTRACT,
            "put embeds by itself",
        ),
        Row(
            "test_vector_update_with_embedding",
            1,
            CONTRACT,
            "an overwrite re-embeds, index=False does not rank",
        ),
        Row(
            "test_vector_search_with_filters", 1, CONTRACT, "query and filter together"
        ),
        Row("test_vector_search_pagination", 1, CONTRACT, "pages of a vector search"),
        Row(
            "test_vector_search_edge_cases", 1, CONTRACT, "empty, long and odd queries"
        ),
        Row(
            "test_embed_with_path",
            1,
            CONTRACT,
            "index fields, several vectors per item",
        ),
        Row("test_basic_store_ops", 1, CONTRACT, "put, get, overwrite, delete"),
        Row(
            "test_list_namespaces", 1, CONTRACT, "list_namespaces with every condition"
        ),
        Row(
            "test_search_items",
            1,
            CONTRACT,
            "search by prefix, filter, limit and offset",
        ),
        Row(
            "test_async_namespace_segment_boundary",
            1,
            CONTRACT,
            "a prefix ends at a label's end",
        ),
        Row(
            "test_abatch_rejects_invalid_namespace_labels",
            3,
            CONTRACT,
            "abatch itself refuses bad labels",
        ),
        Row(
            "test_invalid_namespace_only_fails_its_own_call",
            1,
            CONTRACT,
            "a bad call does not fail its neighbours",
        ),
        Row(
            "test_sync_methods_reject_invalid_namespace_labels",
            1,
            CONTRACT,
            "sync calls beside a loop refuse bad labels",
        ),
    ),
    Suite("langgraph-checkpoint-sqlite", "test_ttl.py"): (
        Row("test_ttl_basic", 1, CONTRACT, "an expired item is swept"),
        Row("test_ttl_refresh", 1, CONTRACT, "a read prolongs"),
        Row("test_ttl_sweeper", 1, CONTRACT, "the background sweeper"),
        Row("test_ttl_custom_value", 1, CONTRACT, "ttl of one put"),
        Row(
            "test_ttl_override_default",
            1,
            CONTRACT,
            "ttl of one put against the default",
        ),
        Row("test_search_with_ttl", 1, CONTRACT, "search after expiry"),
        Row("test_async_ttl_basic", 1, CONTRACT, "an expired item is swept"),
        Row("test_async_ttl_refresh", 1, CONTRACT, "a read prolongs"),
        Row("test_async_ttl_sweeper", 1, CONTRACT, "the background sweeper"),
        Row("test_async_search_with_ttl", 1, CONTRACT, "search after expiry"),
        Row(
            "test_async_asearch_refresh_ttl",
            1,
            CONTRACT,
            "a search prolongs what it returns",
        ),
    ),
}
