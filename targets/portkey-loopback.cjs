// Loaded before a program that has no option for its address: every TCP server listens on 127.0.0.1 only.
"use strict";
const net = require("node:net");
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (...words) {
  const [first] = words;
  if (first !== null && typeof first === "object" && "port" in first) {
    words[0] = { ...first, host: "127.0.0.1" };
  } else if (typeof first === "number" || (typeof first === "string" && /^\d+$/.test(first))) {
    const rest = words.slice(1).filter((word) => typeof word === "function" || typeof word === "number");
    words = [Number(first), "127.0.0.1", ...rest];
  }
  return listen.apply(this, words);
};
