"""A server that speaks OpenAI's chat completions, from a script, on a Unix socket.

Unit tests may not reach the network; a Unix socket is real HTTP without it.
"""

import json
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from inspect import signature
from socketserver import ThreadingUnixStreamServer
from tempfile import TemporaryDirectory
from threading import Thread

import httpx
from langchain_openai import ChatOpenAI


@contextmanager
def openai_server(*responses):
    """Serve the responses in order; yields the requests and what connects a model.

    A response is a body of choices, bytes that are sent as the body, a status for an
    error, or a function (of the request's body, if it takes one) that returns one of
    them, as slowly as it likes.
    """
    requests, script = [], list(responses)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            length = int(self.headers["content-length"])
            requests.append((self.path, json.loads(self.rfile.read(length))))
            response = script.pop(0)
            if callable(response):
                takes = signature(response).parameters
                response = response(*[requests[-1][1]][: len(takes)])
            status = response if isinstance(response, int) else 200
            body = {"error": {"message": "no"}} if status != 200 else response
            raw = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def handle(self):
            with suppress(BrokenPipeError):  # a client that did not wait
                super().handle()

        def address_string(self):
            return "local"  # a Unix socket has no address to log

        def log_message(self, *args):
            pass

    # Paths of Unix sockets are short: pytest's own folders can be too deep.
    with TemporaryDirectory() as folder:
        path = f"{folder}/s"
        server = ThreadingUnixStreamServer(path, Handler)
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield requests, path
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


@contextmanager
def chat_openai(path, **options):
    """Yield a `ChatOpenAI` that is connected to the server."""
    given = {"max_retries": 0, "use_responses_api": False, **options}
    with httpx.Client(transport=httpx.HTTPTransport(uds=path)) as client:
        yield ChatOpenAI(
            model="stub",
            api_key="none",
            base_url="http://local/v1",
            http_client=client,
            http_async_client=httpx.AsyncClient(
                transport=httpx.AsyncHTTPTransport(uds=path)
            ),
            **given,
        )


def completion(*choices):
    """Return a response; each choice is the tool calls or the text of a message."""
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 0,
        "model": "stub",
        "choices": [
            {"index": index, "finish_reason": "stop", "message": _message(choice)}
            for index, choice in enumerate(choices)
        ],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }


def _message(choice):
    if isinstance(choice, str):
        return {"role": "assistant", "content": choice}
    calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": args if isinstance(args, str) else json.dumps(args),
            },
        }
        for number, (name, args) in enumerate(choice)
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}
