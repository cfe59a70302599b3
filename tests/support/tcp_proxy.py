"""Stands between a client and a server of this machine, and fails on demand."""

import select
import socket
import threading


class TcpProxy(threading.Thread):
    """Forwards connections of 127.0.0.1:`port` until it is told to hang (nothing moves, connections stay) or to cut
    (connections end, and new ones are refused)."""

    def __init__(self, server_port):
        super().__init__(daemon=True)
        self.server_port = server_port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.hangs = self.cuts = self.ending = False
        self.pairs = {}
        self.start()

    def stop(self):
        self.ending = True
        self.join()

    def run(self):
        with self.listener:
            while not self.ending:
                self.turn()
            self.hang_up(list(self.pairs))

    def turn(self):
        if self.cuts:
            self.hang_up(list(self.pairs))
        ready, _, _ = select.select([self.listener] + ([] if self.hangs else list(self.pairs)), [], [], 0.05)
        for end in ready:
            if end is self.listener:
                self.accept()
            elif end in self.pairs and not self.forward(end):
                self.hang_up([end])

    def accept(self):
        client, _ = self.listener.accept()
        try:
            if self.cuts:
                raise OSError("refused")
            server = socket.create_connection(("127.0.0.1", self.server_port))
        except OSError:
            client.close()
            return
        self.pairs[client], self.pairs[server] = server, client

    def forward(self, end):
        try:
            data = end.recv(65536)
            self.pairs[end].sendall(data)
            return bool(data)
        except OSError:
            return False

    def hang_up(self, ends):
        for end in ends:
            other = self.pairs.pop(end, None)
            if other is not None:
                self.pairs.pop(other, None)
                end.close()
                other.close()
