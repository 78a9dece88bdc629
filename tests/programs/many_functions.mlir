// Functions that a kernel has many of are made once and called: of one and two operands, in two types.
// What is expected is NumPy's, in double precision.
module @many_functions {
  func.func public @main() {
    %c_f32 = stablehlo.constant dense<[-3.00000000000000000e+00, -2.68421052631578938e+00, -2.36842105263157876e+00, -2.05263157894736858e+00, -1.73684210526315796e+00, -1.42105263157894735e+00, -1.10526315789473695e+00, -7.89473684210526550e-01, -4.73684210526315930e-01, -1.57894736842105310e-01, 1.57894736842105310e-01, 4.73684210526315486e-01, 7.89473684210526105e-01, 1.10526315789473628e+00, 1.42105263157894690e+00, 1.73684210526315752e+00, 2.05263157894736814e+00, 2.36842105263157876e+00, 2.68421052631578938e+00, 3.00000000000000000e+00]> : tensor<20xf32>
    %x_f32 = stablehlo.optimization_barrier %c_f32 : tensor<20xf32>
    %one_f32 = stablehlo.constant dense<1.0> : tensor<20xf32>
    %half_f32 = stablehlo.constant dense<0.5> : tensor<20xf32>
    %s0_f32 = stablehlo.sine %x_f32 : tensor<20xf32>
    %s1_f32 = stablehlo.sine %s0_f32 : tensor<20xf32>
    %s2_f32 = stablehlo.sine %s1_f32 : tensor<20xf32>
    %s3_f32 = stablehlo.sine %s2_f32 : tensor<20xf32>
    %s4_f32 = stablehlo.sine %s3_f32 : tensor<20xf32>
    %s5_f32 = stablehlo.sine %s4_f32 : tensor<20xf32>
    %s6_f32 = stablehlo.sine %s5_f32 : tensor<20xf32>
    %s7_f32 = stablehlo.sine %s6_f32 : tensor<20xf32>
    %t0_f32 = stablehlo.atan2 %x_f32, %one_f32 : tensor<20xf32>
    %h0_f32 = stablehlo.multiply %x_f32, %half_f32 : tensor<20xf32>
    %u0_f32 = stablehlo.add %t0_f32, %h0_f32 : tensor<20xf32>
    %t1_f32 = stablehlo.atan2 %u0_f32, %one_f32 : tensor<20xf32>
    %h1_f32 = stablehlo.multiply %u0_f32, %half_f32 : tensor<20xf32>
    %u1_f32 = stablehlo.add %t1_f32, %h1_f32 : tensor<20xf32>
    %t2_f32 = stablehlo.atan2 %u1_f32, %one_f32 : tensor<20xf32>
    %h2_f32 = stablehlo.multiply %u1_f32, %half_f32 : tensor<20xf32>
    %u2_f32 = stablehlo.add %t2_f32, %h2_f32 : tensor<20xf32>
    %t3_f32 = stablehlo.atan2 %u2_f32, %one_f32 : tensor<20xf32>
    %h3_f32 = stablehlo.multiply %u2_f32, %half_f32 : tensor<20xf32>
    %u3_f32 = stablehlo.add %t3_f32, %h3_f32 : tensor<20xf32>
    %t4_f32 = stablehlo.atan2 %u3_f32, %one_f32 : tensor<20xf32>
    %h4_f32 = stablehlo.multiply %u3_f32, %half_f32 : tensor<20xf32>
    %u4_f32 = stablehlo.add %t4_f32, %h4_f32 : tensor<20xf32>
    %t5_f32 = stablehlo.atan2 %u4_f32, %one_f32 : tensor<20xf32>
    %h5_f32 = stablehlo.multiply %u4_f32, %half_f32 : tensor<20xf32>
    %u5_f32 = stablehlo.add %t5_f32, %h5_f32 : tensor<20xf32>
    %t6_f32 = stablehlo.atan2 %u5_f32, %one_f32 : tensor<20xf32>
    %h6_f32 = stablehlo.multiply %u5_f32, %half_f32 : tensor<20xf32>
    %u6_f32 = stablehlo.add %t6_f32, %h6_f32 : tensor<20xf32>
    %t7_f32 = stablehlo.atan2 %u6_f32, %one_f32 : tensor<20xf32>
    %h7_f32 = stablehlo.multiply %u6_f32, %half_f32 : tensor<20xf32>
    %u7_f32 = stablehlo.add %t7_f32, %h7_f32 : tensor<20xf32>
    %a_f32 = stablehlo.constant dense<[-1.37939244806213612e-01, -3.64178754156373075e-01, -4.68784223161765823e-01, -5.10084138620979566e-01, -5.24449380097426032e-01, -5.24763604331456079e-01, -5.11303981580430111e-01, -4.72014549404059292e-01, -3.72102650896041609e-01, -1.52870978709788996e-01, 1.52870978709788996e-01, 3.72102650896041443e-01, 4.72014549404059292e-01, 5.11303981580430000e-01, 5.24763604331456079e-01, 5.24449380097426032e-01, 5.10084138620979566e-01, 4.68784223161765823e-01, 3.64178754156373075e-01, 1.37939244806213612e-01]> : tensor<20xf32>
    stablehlo.custom_call @check.expect_close(%s7_f32, %a_f32) {has_side_effect = true, mhlo.backend_config = {max_ulp_difference = 16 : i64}} : (tensor<20xf32>, tensor<20xf32>) -> ()
    %b_f32 = stablehlo.constant dense<[-2.35099436615607749e+00, -2.34224923058807066e+00, -2.33238128379619303e+00, -2.32092232032670864e+00, -2.30706629883359371e+00, -2.28929247171007022e+00, -2.26434730262348527e+00, -2.22383217651367371e+00, -2.13772238963534544e+00, -1.76931340212334409e+00, 1.76931340212334409e+00, 2.13772238963534544e+00, 2.22383217651367371e+00, 2.26434730262348527e+00, 2.28929247171007022e+00, 2.30706629883359371e+00, 2.32092232032670864e+00, 2.33238128379619303e+00, 2.34224923058807066e+00, 2.35099436615607749e+00]> : tensor<20xf32>
    stablehlo.custom_call @check.expect_close(%u7_f32, %b_f32) {has_side_effect = true, mhlo.backend_config = {max_ulp_difference = 16 : i64}} : (tensor<20xf32>, tensor<20xf32>) -> ()
    %c_f64 = stablehlo.constant dense<[-3.00000000000000000e+00, -2.68421052631578938e+00, -2.36842105263157876e+00, -2.05263157894736858e+00, -1.73684210526315796e+00, -1.42105263157894735e+00, -1.10526315789473695e+00, -7.89473684210526550e-01, -4.73684210526315930e-01, -1.57894736842105310e-01, 1.57894736842105310e-01, 4.73684210526315486e-01, 7.89473684210526105e-01, 1.10526315789473628e+00, 1.42105263157894690e+00, 1.73684210526315752e+00, 2.05263157894736814e+00, 2.36842105263157876e+00, 2.68421052631578938e+00, 3.00000000000000000e+00]> : tensor<20xf64>
    %x_f64 = stablehlo.optimization_barrier %c_f64 : tensor<20xf64>
    %one_f64 = stablehlo.constant dense<1.0> : tensor<20xf64>
    %half_f64 = stablehlo.constant dense<0.5> : tensor<20xf64>
    %s0_f64 = stablehlo.sine %x_f64 : tensor<20xf64>
    %s1_f64 = stablehlo.sine %s0_f64 : tensor<20xf64>
    %s2_f64 = stablehlo.sine %s1_f64 : tensor<20xf64>
    %s3_f64 = stablehlo.sine %s2_f64 : tensor<20xf64>
    %s4_f64 = stablehlo.sine %s3_f64 : tensor<20xf64>
    %s5_f64 = stablehlo.sine %s4_f64 : tensor<20xf64>
    %s6_f64 = stablehlo.sine %s5_f64 : tensor<20xf64>
    %s7_f64 = stablehlo.sine %s6_f64 : tensor<20xf64>
    %t0_f64 = stablehlo.atan2 %x_f64, %one_f64 : tensor<20xf64>
    %h0_f64 = stablehlo.multiply %x_f64, %half_f64 : tensor<20xf64>
    %u0_f64 = stablehlo.add %t0_f64, %h0_f64 : tensor<20xf64>
    %t1_f64 = stablehlo.atan2 %u0_f64, %one_f64 : tensor<20xf64>
    %h1_f64 = stablehlo.multiply %u0_f64, %half_f64 : tensor<20xf64>
    %u1_f64 = stablehlo.add %t1_f64, %h1_f64 : tensor<20xf64>
    %t2_f64 = stablehlo.atan2 %u1_f64, %one_f64 : tensor<20xf64>
    %h2_f64 = stablehlo.multiply %u1_f64, %half_f64 : tensor<20xf64>
    %u2_f64 = stablehlo.add %t2_f64, %h2_f64 : tensor<20xf64>
    %t3_f64 = stablehlo.atan2 %u2_f64, %one_f64 : tensor<20xf64>
    %h3_f64 = stablehlo.multiply %u2_f64, %half_f64 : tensor<20xf64>
    %u3_f64 = stablehlo.add %t3_f64, %h3_f64 : tensor<20xf64>
    %t4_f64 = stablehlo.atan2 %u3_f64, %one_f64 : tensor<20xf64>
    %h4_f64 = stablehlo.multiply %u3_f64, %half_f64 : tensor<20xf64>
    %u4_f64 = stablehlo.add %t4_f64, %h4_f64 : tensor<20xf64>
    %t5_f64 = stablehlo.atan2 %u4_f64, %one_f64 : tensor<20xf64>
    %h5_f64 = stablehlo.multiply %u4_f64, %half_f64 : tensor<20xf64>
    %u5_f64 = stablehlo.add %t5_f64, %h5_f64 : tensor<20xf64>
    %t6_f64 = stablehlo.atan2 %u5_f64, %one_f64 : tensor<20xf64>
    %h6_f64 = stablehlo.multiply %u5_f64, %half_f64 : tensor<20xf64>
    %u6_f64 = stablehlo.add %t6_f64, %h6_f64 : tensor<20xf64>
    %t7_f64 = stablehlo.atan2 %u6_f64, %one_f64 : tensor<20xf64>
    %h7_f64 = stablehlo.multiply %u6_f64, %half_f64 : tensor<20xf64>
    %u7_f64 = stablehlo.add %t7_f64, %h7_f64 : tensor<20xf64>
    %a_f64 = stablehlo.constant dense<[-1.37939244806213612e-01, -3.64178754156373075e-01, -4.68784223161765823e-01, -5.10084138620979566e-01, -5.24449380097426032e-01, -5.24763604331456079e-01, -5.11303981580430111e-01, -4.72014549404059292e-01, -3.72102650896041609e-01, -1.52870978709788996e-01, 1.52870978709788996e-01, 3.72102650896041443e-01, 4.72014549404059292e-01, 5.11303981580430000e-01, 5.24763604331456079e-01, 5.24449380097426032e-01, 5.10084138620979566e-01, 4.68784223161765823e-01, 3.64178754156373075e-01, 1.37939244806213612e-01]> : tensor<20xf64>
    stablehlo.custom_call @check.expect_close(%s7_f64, %a_f64) {has_side_effect = true, mhlo.backend_config = {max_ulp_difference = 16 : i64}} : (tensor<20xf64>, tensor<20xf64>) -> ()
    %b_f64 = stablehlo.constant dense<[-2.35099436615607749e+00, -2.34224923058807066e+00, -2.33238128379619303e+00, -2.32092232032670864e+00, -2.30706629883359371e+00, -2.28929247171007022e+00, -2.26434730262348527e+00, -2.22383217651367371e+00, -2.13772238963534544e+00, -1.76931340212334409e+00, 1.76931340212334409e+00, 2.13772238963534544e+00, 2.22383217651367371e+00, 2.26434730262348527e+00, 2.28929247171007022e+00, 2.30706629883359371e+00, 2.32092232032670864e+00, 2.33238128379619303e+00, 2.34224923058807066e+00, 2.35099436615607749e+00]> : tensor<20xf64>
    stablehlo.custom_call @check.expect_close(%u7_f64, %b_f64) {has_side_effect = true, mhlo.backend_config = {max_ulp_difference = 16 : i64}} : (tensor<20xf64>, tensor<20xf64>) -> ()
    return
  }
}
