// The door for adapters on postgres.js: statements on connections of their own or on a client that the caller keeps, and how
// its failures are judged. The client is a parameter: nothing of it is imported, and nothing here loads with another door.

export { BorrowedClient } from "./postgres-js/borrowed.ts";
export type * from "./postgres-js/client.ts";
export { type ClientSide, clientSide } from "./postgres-js/client-side.ts";
export { Pool } from "./postgres-js/pool.ts";
export { isFromServer } from "./postgres-js/send.ts";
