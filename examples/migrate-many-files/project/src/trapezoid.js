export function Trapezoid(long, short, height) {
  this.long = long
  this.short = short
  this.height = height
}

Trapezoid.prototype.area = function () {
  return ((this.long + this.short) / 2) * this.height
}
