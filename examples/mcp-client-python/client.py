"""A client of the MCP server in examples/mcp, by the code for OAuth of the official SDK: `client.py [note]`.

CLIENT_ID is the id that a command has printed, or the https URL of a metadata document. Without it the program
registers itself (SVC_CLIENT_REGISTRATION=on).
"""

import asyncio
import os
import sys
from urllib.parse import parse_qsl, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata

RESOURCE = os.environ.get("SVC_BASE_URL", "http://localhost:8000") + "/mcp"


class Kept:
    """What the SDK hands to the program, and asks for again. A program keeps it where its user alone can read it."""

    def __init__(self, client):
        self.client, self.tokens = client, None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def create_auth(client_id=None):
    """Handles OAuth for requests: it has the user asked in the browser, and receives the answer on a port of its own."""
    answers = asyncio.Queue()

    async def receive(reader, writer):
        _, target, _ = (await reader.readline()).decode().split(" ", 2)
        answer = dict(parse_qsl(urlsplit(target).query))
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nYou can close this window.")
        await writer.drain()
        writer.close()
        await answers.put(answer)

    async def show(address):
        print("Open", address, flush=True)

    async def receive_code():
        answer = await answers.get()
        if "code" not in answer:
            sys.exit(answer.get("error_description", "There is no code."))
        # The SDK compares `state` and `iss` with what it expects.
        return AuthorizationCodeResult(code=answer["code"], state=answer.get("state"), iss=answer.get("iss"))

    server = await asyncio.start_server(receive, "127.0.0.1", 0)
    redirect_uris = [f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/callback"]
    about = {"client_name": "Notes in Python", "redirect_uris": redirect_uris, "token_endpoint_auth_method": "none"}
    document = client_id if client_id and client_id.startswith("https:") else None
    made = OAuthClientInformationFull(client_id=client_id, **about) if client_id and not document else None
    return OAuthClientProvider(
        RESOURCE, OAuthClientMetadata(**about), Kept(made), show, receive_code, client_metadata_url=document
    )


async def use_notes(auth, note=None):
    async with httpx2.AsyncClient(auth=auth) as http, Client(streamable_http_client(RESOURCE, http_client=http)) as notes:
        if note:
            print((await notes.call_tool("add_note", {"note": note})).content[0].text)
        print((await notes.call_tool("list_notes")).content[0].text, flush=True)


async def main():
    await use_notes(await create_auth(os.environ.get("CLIENT_ID")), *sys.argv[1:2])


if __name__ == "__main__":
    asyncio.run(main())
