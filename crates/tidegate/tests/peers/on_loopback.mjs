// Imported before a server with a fixed address: makes it listen on a free port of the loopback
// interface, prints the URL, and ends with its input.

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
