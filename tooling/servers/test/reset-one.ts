// Resets one connection at the stage that is named, and should end then.

import { connect, createServer, type Socket } from "node:net";
import { resetSocket } from "../src/proxy-link.ts";

const [, , stage] = process.argv;

const server = createServer({ allowHalfOpen: true }, (socket) => {
  socket.on("error", () => undefined).on("close", () => server.close());
  if (stage === "ending") resetSocket(socket.end("x"));
  else if (stage === "ended by the peer") socket.resume().on("end", () => resetSocket(socket));
  else if (stage === "closed") resetSocket(socket.destroy());
  else if (stage === "open") resetSocket(socket);
  else socket.resume().on("end", () => socket.end());
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  const client: Socket = connect(typeof address === "object" ? (address?.port ?? 0) : 0, "127.0.0.1");
  client.on("error", () => undefined).resume();
  if (stage === "ended by the peer") client.end();
  if (stage === "connecting") resetSocket(client);
});
