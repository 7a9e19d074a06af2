// The program, on a Node that it works with.
"use strict";
void import("./main.js");
