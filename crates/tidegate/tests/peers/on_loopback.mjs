// Imported before a server that listens where it likes: it listens on a free port of the loopback
// interface instead, says on which, and ends when its input does.

import net from "node:net";

const { listen } = net.Server.prototype;

net.Server.prototype.listen = function (...args) {
  this.once("listening", () => {
    console.error(`http://127.0.0.1:${this.address().port}`);
  });
  const then = args.filter((arg) => typeof arg === "function");
  return listen.call(this, { host: "127.0.0.1", port: 0 }, ...then);
};

process.stdin.on("end", () => process.exit(0)).resume();
