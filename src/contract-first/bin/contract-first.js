#!/usr/bin/env node
/** The command of a team's developers. */
import '../dist/cli/main.js';
