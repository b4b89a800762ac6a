"""An MCP server with one tool, in nothing but the standard library."""
import datetime
import json
import sys
import zoneinfo

TOOL = {
    "name": "time_in_zone",
    "description": "Tell the date and the time in a zone such as Europe/Madrid.",
    "inputSchema": {
        "type": "object",
        "properties": {"zone": {"type": "string", "description": "name of the zone; UTC if left out"}},
    },
}


def call(params):
    zone = params.get("arguments", {}).get("zone", "UTC")
    try:
        now = datetime.datetime.now(datetime.timezone.utc if zone == "UTC" else zoneinfo.ZoneInfo(zone))
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return {"content": [{"type": "text", "text": "there is no such zone"}], "isError": True}
    return {"content": [{"type": "text", "text": now.isoformat(timespec="seconds")}]}


METHODS = {
    "initialize": lambda p: {
        "protocolVersion": p["protocolVersion"],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "clock", "version": "1"},
    },
    "ping": lambda p: {},
    "tools/list": lambda p: {"tools": [TOOL]},
    "tools/call": call,
}

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue  # a notification wants no answer
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    method = METHODS.get(message["method"])
    if method is None:
        answer["error"] = {"code": -32601, "message": "there is no such method"}
    else:
        answer["result"] = method(message.get("params") or {})
    print(json.dumps(answer), flush=True)
