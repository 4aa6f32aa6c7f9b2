//! Workers, servers, tunnels and coordinators that end: nothing is lost, doubled or punished.
