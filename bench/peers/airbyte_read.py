"""Reads the four accounting lists of the practice API with the Airbyte CDK, set as well as its documentation allows.

What comes from where (docs.airbyte.com, low-code CDK reference):
- HTTPAPIBudget with one MovingWindowCallRatePolicy for each list; a request has the weight of its page; the interval is a
  little longer than the server's window (61 s for 60 s), since the server counts at arrival.
- WaitTimeFromHeader for a Retry-After, all the same.
- DatetimeBasedCursor on `modified` with `lookback_window`; payments have no `modified`: IncrementingCountCursor on `id`,
  which knows no look-back.
- CursorPagination by `id__gt`, since the API serves no offset above 10,000; streams side by side by `concurrency_level`.
Records are counted in this process and go to no destination: what a destination costs comes on top.

One JSON line on stdout: records by list and seconds. The state (and with --seen the ids and versions seen) is kept in files.
"""

import argparse
import json
import logging
import math
import os
import sys
import time
from pathlib import Path

epoch = "2000-01-01T00:00:00Z"
limits = {"invoice": 60, "invoicerow": 100, "invoicepayment": 100, "unallocatedpayment": 200}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True, help="{base_url}/<installation>/api/0.1/")
    parser.add_argument("--token", required=True)
    parser.add_argument("--folder", required=True, help="for the state")
    parser.add_argument("--page-size", type=int, default=1000)
    parser.add_argument("--window-seconds", type=float, default=60, help="the server's rolling window; 0: no limits")
    parser.add_argument("--lookback-seconds", type=int, default=600)
    parser.add_argument("--seen", action="store_true", help="keep the newest version of every id")
    return parser.parse_args()


def stream(name: str, args: argparse.Namespace) -> dict:
    parameters = {"page_size": str(args.page_size)}
    if name == "invoicerow":
        parameters["expose_invoicerow_vat_group"] = "true"
    pages = {
        "type": "DefaultPaginator",
        "pagination_strategy": {
            "type": "CursorPagination",
            "cursor_value": "{{ last_record['id'] }}",
            "stop_condition": "{{ not response.next }}",
        },
    }
    if name == "invoicepayment":
        # The cursor and the pages both speak of id__gt, which only one of them may inject.
        parameters["id__gt"] = "{{ next_page_token.next_page_token if next_page_token else stream_interval.start }}"
        incremental: dict = {"type": "IncrementingCountCursor", "cursor_field": "id", "start_value": 0}
    else:
        pages["page_token_option"] = {"type": "RequestOption", "inject_into": "request_parameter", "field_name": "id__gt"}
        incremental = {
            "type": "DatetimeBasedCursor",
            "cursor_field": "modified",
            "cursor_datetime_formats": ["%Y-%m-%dT%H:%M:%S.%f%z", "%Y-%m-%dT%H:%M:%S%z"],
            "datetime_format": "%Y-%m-%dT%H:%M:%S.%f%z",
            "start_datetime": {"type": "MinMaxDatetime", "datetime": epoch, "datetime_format": "%Y-%m-%dT%H:%M:%SZ"},
            "lookback_window": f"PT{args.lookback_seconds}S",
            "start_time_option": {"type": "RequestOption", "inject_into": "request_parameter", "field_name": "modified__gte"},
        }
    return {
        "type": "DeclarativeStream",
        "name": name,
        "primary_key": ["id"],
        "retriever": {
            "type": "SimpleRetriever",
            "requester": {
                "type": "HttpRequester",
                "url_base": args.url,
                "path": f"{name}/",
                "http_method": "GET",
                "authenticator": {"type": "BearerAuthenticator", "api_token": args.token},
                "request_parameters": parameters,
                "error_handler": {
                    "type": "DefaultErrorHandler",
                    "max_retries": 20,
                    "backoff_strategies": [{"type": "WaitTimeFromHeader", "header": "Retry-After"}],
                },
            },
            "record_selector": {"type": "RecordSelector", "extractor": {"type": "DpathExtractor", "field_path": ["results"]}},
            "paginator": pages,
        },
        "incremental_sync": incremental,
        "schema_loader": {"type": "InlineSchemaLoader", "schema": {"type": "object", "additionalProperties": True, "properties": {}}},
    }


def manifest(args: argparse.Namespace) -> dict:
    weight = math.ceil(args.page_size / 50)
    built: dict = {
        "version": "6.0.0",
        "type": "DeclarativeSource",
        "check": {"type": "CheckStream", "stream_names": ["invoice"]},
        "streams": [stream(name, args) for name in limits],
        "spec": {"type": "Spec", "connection_specification": {"type": "object", "properties": {}}},
        "concurrency_level": {"type": "ConcurrencyLevel", "default_concurrency": 8, "max_concurrency": 8},
    }
    if args.window_seconds > 0:
        built["api_budget"] = {
            "type": "HTTPAPIBudget",
            "policies": [
                {
                    "type": "MovingWindowCallRatePolicy",
                    "rates": [{"type": "Rate", "limit": limit, "interval": f"PT{args.window_seconds * 61 / 60:.3f}S"}],
                    "matchers": [
                        {"type": "HttpRequestRegexMatcher", "method": "GET", "url_path_pattern": f"/{name}$", "weight": weight}
                    ],
                }
                for name, limit in limits.items()
            ],
        }
    return built


def main() -> None:
    args = arguments()
    os.environ.setdefault("AIRBYTE_LOG_LEVEL", "ERROR")
    from airbyte_cdk.models import AirbyteStateMessageSerializer, ConfiguredAirbyteCatalogSerializer, Type
    from airbyte_cdk.sources.declarative.concurrent_declarative_source import ConcurrentDeclarativeSource

    logger = logging.getLogger("airbyte")
    logger.setLevel(logging.ERROR)
    folder = Path(args.folder)
    folder.mkdir(parents=True, exist_ok=True)
    state_file = folder / "state.json"
    states: dict = json.loads(state_file.read_text()) if state_file.exists() else {}
    seen_file = folder / "seen.json"
    seen: dict = json.loads(seen_file.read_text()) if args.seen and seen_file.exists() else {name: {} for name in limits}
    state = [AirbyteStateMessageSerializer.load(each) for each in states.values()]
    configured = [
        {
            "stream": {"name": name, "json_schema": {}, "supported_sync_modes": ["full_refresh", "incremental"]},
            "sync_mode": "incremental",
            "destination_sync_mode": "append_dedup",
        }
        for name in limits
    ]
    catalog = ConfiguredAirbyteCatalogSerializer.load({"streams": configured})
    source = ConcurrentDeclarativeSource(catalog=catalog, config={}, state=state, source_config=manifest(args))
    counts = dict.fromkeys(limits, 0)
    started = time.monotonic()
    for message in source.read(logger, {}, catalog, state):
        if message.type == Type.RECORD:
            record = message.record
            counts[record.stream] += 1
            if args.seen:
                seen[record.stream][str(record.data["id"])] = record.data.get("modified", "")
        elif message.type == Type.STATE:
            dumped = AirbyteStateMessageSerializer.dump(message.state)
            states[dumped["stream"]["stream_descriptor"]["name"]] = json.loads(json.dumps(dumped, default=str))
            # What a destination does: a state counts once the records before it are kept.
            if args.seen:
                write(seen_file, seen)
            write(state_file, states)
    seconds = round(time.monotonic() - started, 3)
    print(json.dumps({"records": counts, "seconds": {"read": seconds}}))


def write(file: Path, content: dict) -> None:
    beside = file.with_suffix(".new")
    beside.write_text(json.dumps(content))
    beside.rename(file)


if __name__ == "__main__":
    try:
        main()
    except Exception as error:  # the harness shows stderr
        print(f"Airbyte CDK failed: {error!r}", file=sys.stderr)
        raise
