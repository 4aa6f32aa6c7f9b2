// 这个函数计算 ReLU：对每个元素取 max(x, 0)。
// 每个线程处理一个元素，使用 256 个线程的线程块。
// It must fail: there is no code at all.
// expect: malformed, refused, not-compiled

/* 首先分配显存，然后启动内核，最后同步设备。 */
