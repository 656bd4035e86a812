"""A server of one large object that is a file, repeated: what no disk here holds, to be read by ranges.

    python python/bench/repeated.py FILE TIMES PORT [PROCESSES]

Its address is http://127.0.0.1:PORT/object. It answers HEAD and GET with ranges, tells an ETag and minds If-Match. What a program
finds in it has to be TIMES what it finds in FILE.
"""

import multiprocessing
import socket
import sys
import threading

BLOCK_BYTES = 1 << 20


def served(listener, data: bytes, times: int):
    """Accepts for ever."""
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=answered, args=(connection, data, times), daemon=True).start()


def answered(connection, data: bytes, times: int):
    """All requests of a connection."""
    size, tag, view = len(data) * times, f'"{len(data):x}-{times:x}"', memoryview(data)
    reader = connection.makefile("rb")
    try:
        while line := reader.readline():
            method = line.split(b" ")[0]
            fields = {}
            while (field := reader.readline()) not in (b"\r\n", b""):
                name, _, value = field.decode("latin-1").partition(":")
                fields[name.lower()] = value.strip()
            start, end, status = 0, size, "200 OK"
            if fields.get("if-match", tag) != tag:
                status, end = "412 Precondition Failed", 0
            elif "range" in fields:
                first, _, last = fields["range"].removeprefix("bytes=").partition("-")
                start, end = int(first), min(size, int(last) + 1 if last else size)
                status = "206 Partial Content"
            head = f"HTTP/1.1 {status}\r\nETag: {tag}\r\nAccept-Ranges: bytes\r\nContent-Length: {end - start}\r\n"
            if status.startswith("206"):
                head += f"Content-Range: bytes {start}-{end - 1}/{size}\r\n"
            connection.sendall(head.encode() + b"\r\n")
            while method == b"GET" and start < end:
                at = start % len(data)
                part = view[at : at + min(BLOCK_BYTES, end - start)]
                connection.sendall(part)
                start += len(part)
    except OSError:
        pass
    finally:
        reader.close()
        connection.close()


def main():
    path, times, port, *processes = sys.argv[1:]
    with open(path, "rb") as file:
        data = file.read()
    assert data.endswith(b"\n"), "records are whole where the file begins again"
    listener = socket.create_server(("127.0.0.1", int(port)), backlog=256)
    for _ in range(int(processes[0]) - 1 if processes else 0):
        multiprocessing.Process(target=served, args=(listener, data, int(times)), daemon=True).start()
    print(f"{len(data) * int(times)} bytes at http://127.0.0.1:{port}/object", flush=True)
    served(listener, data, int(times))


if __name__ == "__main__":
    main()
