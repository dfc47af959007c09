"""python -m espalier.mcp [--server ADDRESS] [--data DIR]: serves MCP on standard input and output until that ends."""

import argparse
import sys


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m espalier.mcp", description="Espalier's tools for agents, over MCP on standard input and output.")
    parser.add_argument("--server", metavar="ADDRESS", help="unix:PATH or HOST:PORT (else that of `espalier up` on this machine)")
    parser.add_argument("--data", metavar="DIR", help="the data directory (else $ESPALIER_DATA, else ~/.espalier)")
    options = parser.parse_args()
    try:
        from espalier.mcp.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "pydantic"):
            raise
        print("espalier: python -m espalier.mcp needs mcp: pip install 'espalier-hpo[mcp]'", file=sys.stderr)
        return 1
    serve(options.server, options.data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
