#!/usr/bin/env node
// What every program of a built package begins with. Any Node can read this file: one that is too old is told so in a sentence,
// where the program itself would end in a trace.
"use strict";
var manifest = require("./package.json");

var needed = /\d+/.exec(manifest.engines.node)[0];
var own = process.versions.node;
var name = Object.keys(manifest.bin)[0];
var fault =
  name + ": Node " + needed + " or newer is needed, and this is Node " + own + " (" + process.execPath;
if (parseInt(own, 10) >= Number(needed)) {
  require("./program.cjs");
} else {
  console.error(fault + "). Install a newer Node, or put one first in PATH.");
  process.exitCode = 1;
}
